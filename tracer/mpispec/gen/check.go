package main

import "github.com/cairn-mpi/cairn/tracer/mpispec"

// checkParam rejects what can be parsed but cannot be meant.
func checkParam(l line, p *mpispec.Param, all []mpispec.Param) error {
	for _, t := range []mpispec.Term{p.Length, p.Defined} {
		if err := checkTerm(l, t, all); err != nil {
			return err
		}
	}
	if i := p.UnlessInPlace; i != 0 && all[i-1].Kind != mpispec.KindBuffer {
		return l.errorf("unless-inplace(%s): not a buffer", all[i-1].Name)
	}
	if i := p.OnlyIf; i != 0 {
		if flag := &all[i-1]; flag.Kind != mpispec.KindBool || !flag.Direction.IsOut() {
			return l.errorf("if(%s): not an out bool", flag.Name)
		}
		if !p.Direction.IsOut() {
			return l.errorf("if() on a parameter that the call does not set")
		}
	}
	if p.RootOnly && !hasRoot(all) {
		return l.errorf("significant only at the root, but no parameter is the root")
	}
	if p.ByPointer && (p.Direction != mpispec.In || p.IsArray()) {
		return l.errorf("by-pointer is for in scalars")
	}
	return checkEffect(l, p)
}

// checkEffect makes sure that no handle changes hands unnoticed.
func checkEffect(l line, p *mpispec.Param) error {
	switch p.Effect {
	case mpispec.EffectNone:
		if p.Kind.IsHandle() && p.Direction.IsOut() {
			return l.errorf("say what happens to the %s: new, existing, freed, ...", p.Kind)
		}
		return nil
	case mpispec.EffectNew, mpispec.EffectExisting:
		if p.Direction != mpispec.Out {
			return l.errorf("%s is for out handles", p.Effect)
		}
	case mpispec.EffectCompleted, mpispec.EffectStarted:
		if p.Kind != mpispec.KindRequest || p.Direction != mpispec.InOut {
			return l.errorf("%s is for inout requests", p.Effect)
		}
	case mpispec.EffectKept:
		if p.Direction != mpispec.InOut {
			return l.errorf("kept is for inout handles")
		}
	case mpispec.EffectConsumed:
		if p.Kind != mpispec.KindMessage {
			return l.errorf("consumed is for messages")
		}
	}
	if !p.Kind.IsHandle() {
		return l.errorf("%s: a %s is no handle", p.Effect, p.Kind)
	}
	return nil
}

func checkTerm(l line, t mpispec.Term, all []mpispec.Param) error {
	p := &all[t.Param]
	ok := true
	switch t.Op {
	case mpispec.TermParam:
		ok = p.Direction.IsIn() && !p.IsArray() && !p.Kind.IsHandle() && !isPointerKind(p.Kind)
	case mpispec.TermResult:
		ok = p.Direction.IsOut() && !p.IsArray() && !p.Kind.IsHandle() && !isPointerKind(p.Kind)
	case mpispec.TermSum, mpispec.TermLast:
		ok = p.Direction.IsIn() && p.IsArray()
	case mpispec.TermSize, mpispec.TermLocalsize, mpispec.TermIndegree, mpispec.TermOutdegree,
		mpispec.TermNdims, mpispec.TermNnodes, mpispec.TermNedges, mpispec.TermNeighbors:
		ok = p.Direction == mpispec.In && p.Kind == mpispec.KindComm
	case mpispec.TermIntegers, mpispec.TermAddresses, mpispec.TermDatatypes, mpispec.TermCounts:
		ok = p.Direction == mpispec.In && p.Kind == mpispec.KindDatatype
	}
	if !ok {
		return l.errorf("a length cannot come from %s", p.Name)
	}
	return nil
}

func isPointerKind(k mpispec.Kind) bool {
	switch k {
	case mpispec.KindBuffer, mpispec.KindPointer, mpispec.KindString, mpispec.KindStrings,
		mpispec.KindArgumentLists, mpispec.KindFunction, mpispec.KindStatus, mpispec.KindF08Status:
		return true
	}
	return false
}

// setRankOf finds the object whose ranks the parameter counts: the only one,
// or the one that of() names.
func setRankOf(l line, p *mpispec.Param, all []mpispec.Param) error {
	if p.Kind != mpispec.KindRank && p.Kind != mpispec.KindRoot {
		if p.RankOf != 0 {
			return l.errorf("of() on a %s", p.Kind)
		}
		return nil
	}
	if i := p.RankOf; i != 0 {
		if !hasRanks(&all[i-1]) {
			return l.errorf("of(%s): nothing that has ranks", all[i-1].Name)
		}
		return nil
	}
	for i := range all {
		if !hasRanks(&all[i]) {
			continue
		}
		if p.RankOf != 0 {
			return l.errorf("ranks of %s or of %s? Say of(...)", all[p.RankOf-1].Name, all[i].Name)
		}
		p.RankOf = i + 1
	}
	return nil
}

func hasRanks(p *mpispec.Param) bool {
	switch p.Kind {
	case mpispec.KindComm, mpispec.KindGroup, mpispec.KindWin:
		return p.Direction == mpispec.In
	}
	return false
}

func hasRoot(all []mpispec.Param) bool {
	for i := range all {
		if all[i].Kind == mpispec.KindRoot {
			return true
		}
	}
	return false
}
