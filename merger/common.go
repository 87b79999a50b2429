package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// A rank that is unlike all others — a corner of a grid, or any rank if each has messages of other
// sizes — is a shape of one row, in which every number is a constant. But its peer 5 could also be
// written as r + 1, or as the next rank in a row of a grid. Written like the corresponding value of
// most other ranks, it gives one signature for all of them instead of one for each.
//
// The function is chosen by a vote of all such ranks, for each slotKey (function, call site and
// parameter). Each rank votes for each constant, offset and function of the rank that gives its
// value there. A slot is written as the winner. The candidate functions are those that give all
// values of some slotKey: (r + b) mod n, and displacements in a Cartesian grid of the program, or
// in a grid that has as many points as the world has ranks, since many programs compute their
// neighbors without a Cartesian communicator.
//
// The votes depend on the content of all ranks, in the order of the shapes, so they do not depend
// on the order of merges.

const (
	// maxVoters is the maximum number of shapes of one row that vote: more change nothing, and each
	// takes memory.
	maxVoters = 4096
	// maxFunctions is the maximum number of candidate functions of the rank.
	maxFunctions = 64
)

// A slotKey identifies corresponding slots of different shapes.
type slotKey struct {
	function uint16
	site     uint32
	onHandle bool
	path     int32
}

func (e *exporter) slotKey(t *template, slot int) slotKey {
	return slotKey{t.signature.Function, e.sources.of(t.signature.Site), t.onHandle, t.paths[slot]}
}

// A candidateKind is a way to write the value of one rank.
type candidateKind uint8

const (
	asConstant candidateKind = iota // among those with equal votes, the first wins
	asOffset
	asFunction
)

// A candidate is a code, an offset from the rank, or the number of a function.
type candidate struct {
	kind candidateKind
	x    int64
}

// An observation is a value of a shape with one row.
type observation struct {
	rank  int64 // −1: unknown
	code  int64
	count int
}

// An election decides how the values of shapes with one row are written.
type election struct {
	functions []trace.Value
	votes     map[slotKey]map[candidate]int
	offsets   map[slotKey]bool // fewer offsets than constants give the values there: constants lose
}

// single reports whether the shape has one rank.
func (s *exported) single() bool { return s.rows.Len() == 1 }

// elect lets all shapes with one row vote.
func (e *exporter) elect() {
	voters := 0
	for _, s := range e.order {
		if s.single() {
			voters++
		}
	}
	if !e.final || voters < 2 {
		return
	}
	seen := map[slotKey][]observation{}
	var places []slotKey // in order of first use
	voters = 0
	for _, s := range e.order {
		if !s.single() {
			continue
		}
		if voters++; voters > maxVoters {
			break
		}
		for k, id := range s.shape.templates {
			t := e.table.templates[id]
			first := s.shape.first[k]
			rank := int64(-1)
			own := numbersOfCodes(s.values(first))
			if r := e.relativeTo(s, t, &own); r != nil {
				rank = r.At(0)
			}
			for i := range t.paths {
				values := s.values(first + 1 + i)
				code := values.At(0)
				if i >= t.slots && code&1 == 1 {
					continue // a stream that is not replaced
				}
				at := e.slotKey(t, i)
				if seen[at] == nil {
					places = append(places, at)
				}
				seen[at] = addObservation(seen[at], observation{rank, code, 1})
			}
		}
	}
	e.election.votes = map[slotKey]map[candidate]int{}
	for _, at := range places {
		e.election.votes[at] = map[candidate]int{}
		e.addFunction(seen[at])
	}
	e.castOthers()
	for _, at := range places {
		votes := e.election.votes[at]
		for _, o := range seen[at] {
			votes[candidate{asConstant, o.code}] += o.count
			if o.rank < 0 || o.code&1 == 1 {
				continue
			}
			votes[candidate{asOffset, o.code>>1 - o.rank}] += o.count
			for i, f := range e.election.functions {
				if gives(f, o.rank, o.code>>1) {
					votes[candidate{asFunction, int64(i)}] += o.count
				}
			}
		}
	}
	e.compareKinds()
}

// compareKinds finds the slots in which constants lose: a rank in the middle of a grid is a
// neighbor of many ranks, but there are few directions.
func (e *exporter) compareKinds() {
	e.election.offsets = map[slotKey]bool{}
	for at, votes := range e.election.votes {
		kinds := [asFunction + 1]int{}
		for w := range votes {
			kinds[w.kind]++
		}
		e.election.offsets[at] = kinds[asOffset] > 0 && kinds[asOffset] < kinds[asConstant]
	}
}

// castOthers adds the votes of shapes with several rows: one for each shape, for how it writes the
// slot.
func (e *exporter) castOthers() {
	for _, s := range e.order {
		if s.single() {
			continue
		}
		for k, id := range s.shape.templates {
			t := e.table.templates[id]
			first := s.shape.first[k]
			own := numbersOfCodes(s.values(first))
			at := encodingChoice{exporter: e, own: e.relativeTo(s, t, &own)}
			for i := range t.paths {
				votes := e.election.votes[e.slotKey(t, i)]
				if votes == nil {
					continue
				}
				codes := s.values(first + 1 + i)
				if code, ok := codes.Constant(); ok {
					votes[candidate{asConstant, code}] += s.rows.Len()
					continue
				}
				if !allNumbers(&codes) {
					continue
				}
				numbers := numbersOfCodes(codes)
				switch v, ok := at.ofRank(numbers.Values(nil)); {
				case !ok:
				case v.Form == trace.RankOffset:
					votes[candidate{asOffset, v.Int}] += s.rows.Len()
				default:
					if number, ok := e.functionNumber(v); ok {
						votes[candidate{asFunction, number}] += s.rows.Len()
					}
				}
			}
		}
	}
}

// functionNumber returns the number of a function, which it adds if necessary.
func (e *exporter) functionNumber(f trace.Value) (int64, bool) {
	i := slices.IndexFunc(e.election.functions, func(g trace.Value) bool { return equalValues(f, g) })
	if i < 0 && len(e.election.functions) < maxFunctions {
		i = len(e.election.functions)
		e.election.functions = append(e.election.functions, f)
	}
	return int64(i), i >= 0
}

// addObservation adds an observation, or counts it if the latest one is equal; those of a rank are
// consecutive.
func addObservation(list []observation, o observation) []observation {
	for i := len(list) - 1; i >= 0 && list[i].rank == o.rank; i-- {
		if list[i].code == o.code {
			list[i].count++
			return list
		}
	}
	return append(list, o)
}

// addFunction adds the function that gives all values of a slotKey, if there is one that is more
// than an offset.
func (e *exporter) addFunction(list []observation) {
	if len(list) < 2 {
		return
	}
	var own codec.Numbers
	values := make([]int64, len(list))
	for i, o := range list {
		if o.rank < 0 || o.code&1 == 1 || i > 0 && o.rank == list[i-1].rank {
			return
		}
		own.Push(o.rank)
		values[i] = o.code >> 1
	}
	if !slices.ContainsFunc(values, func(v int64) bool { return v != values[0] }) {
		return
	}
	at := encodingChoice{exporter: e, own: &own}
	if f, ok := at.ofRank(values); ok && f.Form != trace.RankOffset {
		e.functionNumber(f)
	}
}

// gives reports whether a function has this value at a rank.
func gives(f trace.Value, rank, value int64) bool {
	switch trace.Operator(f.Int) {
	case trace.Modulo:
		return floorMod(rank+f.List[0].Int, f.List[1].Int) == value
	case trace.Cartesian:
		n := int(f.List[0].Int)
		g, by := make(grid, n), make([]int64, n)
		for i := range g {
			g[i], by[i] = f.List[1+i].Int, f.List[1+n+i].Int
		}
		at, there := g.shifted(rank, by)
		return there && at == value
	case trace.Stride:
		q := rank / f.List[2].Int
		if d := f.List[3].Int; d > 0 {
			q %= d
		}
		return f.List[0].Int+f.List[1].Int*q == value
	}
	return false
}

// elected returns how the code of a single rank is written: like that of most such ranks for this
// slotKey.
func (f *encodingChoice) elected(at slotKey, code int64) trace.Value {
	votes := f.election.votes[at]
	best, most := trace.Value{}, -1
	consider := func(w candidate, v trace.Value) {
		if n, there := votes[w]; there && n > most {
			best, most = v, n
		}
	}
	own := f.rank()
	relative := own != nil && code&1 == 0
	if !relative || !f.election.offsets[at] {
		consider(candidate{asConstant, code}, f.coded(code))
	}
	if relative {
		by := code>>1 - own[0]
		consider(candidate{asOffset, by}, trace.Value{Form: trace.RankOffset, Int: by})
		for i, function := range f.election.functions {
			if gives(function, own[0], code>>1) {
				consider(candidate{asFunction, int64(i)}, function)
			}
		}
	}
	if most < 0 {
		return f.coded(code)
	}
	return best
}
