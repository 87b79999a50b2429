package logical

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// A Differing is a parameter that differs between ranks of one program.
type Differing struct {
	Function  uint16
	Site      uint32 // 1 + the index of the call site; 0: unknown
	Parameter string
}

// A likeness compares sequences of calls without their arguments: ranks are one program if they are
// equal modulo parameters. If loops are equal except for their trip counts, the trip count is a
// parameter, too.
type likeness struct {
	program    *Program
	kinds      map[kind]int32
	structures map[string]uint64 // hash of the structure by sequence of kinds
	parameters map[Differing]bool
	compared   map[[2]int32]bool // pairs of calls
	trips      bool
}

func newLikeness(p *Program) *likeness {
	return &likeness{program: p, kinds: map[kind]int32{}, structures: map[string]uint64{}, parameters: map[Differing]bool{}, compared: map[[2]int32]bool{}}
}

// is reports whether a rank's calls have the structure of the maximal rank's, and records the
// parameters that differ. whole is the maximal rank's calls on this rank, with MPI_PROC_NULL for
// neighbors that it lacks; partial is the same without the calls to such neighbors. A rank that
// skips a nonblocking call also skips its completion, so completions are ignored in partial.
func (l *likeness) is(calls, whole, partial []int32) bool {
	pairs := [][2][]int32{{calls, whole}}
	if len(partial) < len(whole) {
		pairs = append(pairs, [2][]int32{calls, partial}, [2][]int32{l.incomplete(calls), l.incomplete(partial)})
	}
	for _, pair := range pairs {
		if slices.Equal(l.kindsOf(pair[0]), l.kindsOf(pair[1])) {
			for i := range pair[0] {
				l.compare(pair[0][i], pair[1][i])
			}
			return true
		}
	}
	for _, pair := range pairs {
		if l.structure(l.kindsOf(pair[0])) == l.structure(l.kindsOf(pair[1])) {
			l.trips = true
			return true
		}
	}
	return false
}

// incomplete returns calls without those that complete others.
func (l *likeness) incomplete(calls []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(calls), func(c int32) bool { return l.program.calls[c].kind.completes })
}

func (l *likeness) kindsOf(calls []int32) []int32 {
	list := make([]int32, len(calls))
	for i, c := range calls {
		k := l.program.calls[c].kind
		number, known := l.kinds[k]
		if !known {
			number = int32(len(l.kinds))
			l.kinds[k] = number
		}
		list[i] = number
	}
	return list
}

func (l *likeness) structure(kinds []int32) uint64 {
	key := string(codec.AppendSequence(nil, wide(kinds)))
	of, known := l.structures[key]
	if !known {
		of = program.Structure(grammarOf(kinds))
		l.structures[key] = of
	}
	return of
}

// compare records the parameters in which two calls of one kind differ: their words are in the same
// order.
func (l *likeness) compare(a, b int32) {
	pair := [2]int32{a, b}
	if a == b || l.compared[pair] {
		return
	}
	l.compared[pair] = true
	one, other := &l.program.calls[a], &l.program.calls[b]
	values := l.arguments(one)
	for name, value := range l.arguments(other) {
		if values[name] != value {
			l.parameters[Differing{one.kind.function, one.kind.site, name}] = true
		}
	}
}

// arguments returns the arguments of a call by name. A peer replaces its slot.
func (l *likeness) arguments(c *call) map[string]string {
	all, peer, last := map[string]string{}, 0, ""
	for i, word := range strings.Fields(c.text) {
		name, value, given := strings.Cut(word, "=")
		switch {
		case i == 0: // the function
		case !given:
			all[last] += " " + word // element of a list
		case value == "%s":
			all[name] = c.peers[peer]
			peer++
		default:
			all[name], last = value, name
		}
	}
	return all
}

func (l *likeness) differing() []Differing {
	return slices.SortedFunc(maps.Keys(l.parameters), func(a, b Differing) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Parameter, b.Parameter))
	})
}
