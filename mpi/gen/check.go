package main

import "github.com/cairn-mpi/cairn/mpi"

// checkParam rejects combinations that are syntactically correct but have no meaning.
func checkParam(l line, p *mpi.Param, all []mpi.Param) error {
	for _, t := range []mpi.Term{p.Length, p.Defined} {
		if err := checkTerm(l, t, all); err != nil {
			return err
		}
	}
	if i := p.UnlessInPlace; i != 0 && all[i-1].Kind != mpi.KindBuffer {
		return l.errorf("unless-inplace(%s): not a buffer", all[i-1].Name)
	}
	if i := p.OnlyIf; i != 0 {
		if flag := &all[i-1]; flag.Kind != mpi.KindBool || !flag.Direction.IsOut() {
			return l.errorf("if(%s): not an out bool", flag.Name)
		}
		if !p.Direction.IsOut() {
			return l.errorf("if() on a parameter that the call does not set")
		}
	}
	if p.RootOnly && !hasRoot(all) {
		return l.errorf("significant only at the root, but no parameter is the root")
	}
	if p.ByPointer && (p.Direction != mpi.In || p.IsArray()) {
		return l.errorf("by-pointer is for in scalars")
	}
	return checkEffect(l, p)
}

// checkEffect rejects handles without a declared effect where the call creates or frees one.
func checkEffect(l line, p *mpi.Param) error {
	switch p.Effect {
	case mpi.EffectNone:
		if p.Kind.IsHandle() && p.Direction.IsOut() {
			return l.errorf("say what happens to the %s: new, existing, freed, ...", p.Kind)
		}
		return nil
	case mpi.EffectNew, mpi.EffectExisting:
		if p.Direction != mpi.Out {
			return l.errorf("%s is for out handles", p.Effect)
		}
	case mpi.EffectCompleted, mpi.EffectStarted:
		if p.Kind != mpi.KindRequest || p.Direction != mpi.InOut {
			return l.errorf("%s is for inout requests", p.Effect)
		}
	case mpi.EffectKept:
		if p.Direction != mpi.InOut {
			return l.errorf("kept is for inout handles")
		}
	case mpi.EffectConsumed:
		if p.Kind != mpi.KindMessage {
			return l.errorf("consumed is for messages")
		}
	}
	if !p.Kind.IsHandle() {
		return l.errorf("%s: a %s is no handle", p.Effect, p.Kind)
	}
	return nil
}

func checkTerm(l line, t mpi.Term, all []mpi.Param) error {
	p := &all[t.Param]
	ok := true
	switch t.Op {
	case mpi.TermParam:
		ok = p.Direction.IsIn() && !p.IsArray() && !p.Kind.IsHandle() && !isPointerKind(p.Kind)
	case mpi.TermResult:
		ok = p.Direction.IsOut() && !p.IsArray() && !p.Kind.IsHandle() && !isPointerKind(p.Kind)
	case mpi.TermSum, mpi.TermLast:
		ok = p.Direction.IsIn() && p.IsArray()
	case mpi.TermSize, mpi.TermLocalsize, mpi.TermIndegree, mpi.TermOutdegree,
		mpi.TermNdims, mpi.TermNnodes, mpi.TermNedges, mpi.TermNeighbors:
		ok = p.Direction == mpi.In && p.Kind == mpi.KindComm
	case mpi.TermIntegers, mpi.TermAddresses, mpi.TermDatatypes, mpi.TermCounts:
		ok = p.Direction == mpi.In && p.Kind == mpi.KindDatatype
	}
	if !ok {
		return l.errorf("a length cannot come from %s", p.Name)
	}
	return nil
}

func isPointerKind(k mpi.Kind) bool {
	switch k {
	case mpi.KindBuffer, mpi.KindPointer, mpi.KindString, mpi.KindStrings,
		mpi.KindArgumentLists, mpi.KindFunction, mpi.KindStatus, mpi.KindF08Status:
		return true
	}
	return false
}

// setRankOf sets the object that a rank refers to: the only one, or the one that of() names.
func setRankOf(l line, p *mpi.Param, all []mpi.Param) error {
	if p.Kind != mpi.KindRank && p.Kind != mpi.KindRoot {
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

func hasRanks(p *mpi.Param) bool {
	switch p.Kind {
	case mpi.KindComm, mpi.KindGroup, mpi.KindWin:
		return p.Direction == mpi.In
	}
	return false
}

func hasRoot(all []mpi.Param) bool {
	for i := range all {
		if all[i].Kind == mpi.KindRoot {
			return true
		}
	}
	return false
}
