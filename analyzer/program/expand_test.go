package program

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// expansion lists the calls of items, counting how often each item has been come to.
type expansion struct {
	b     *builder
	met   map[*item]*progress
	calls []int32
}

type progress struct{ times, calls uint64 }

func (e *expansion) run(items []*item) {
	for _, x := range items {
		// an item that stands at several places of one level is the same at each, and
		// starts anew at each
		at := e.met[x]
		if at == nil {
			at = &progress{}
			e.met[x] = at
		}
		n := x.trips[at.times%uint64(len(x.trips))]
		at.times++
		for range n {
			switch {
			case len(x.calls) > 0:
				e.calls = append(e.calls, x.calls[at.calls%uint64(len(x.calls))])
				at.calls++
			case x.part >= 0:
				e.run(e.b.body(x.part).items)
			default:
				e.run(x.body)
			}
		}
	}
}

// kindOf puts three signatures together in each kind, as a call site with varying
// arguments has them.
func kindOf(terminal int32) uint64 { return uint64(terminal/3) + 1 }

// TestProgramIsTheSequence: whatever is folded, the program's calls are those of the
// grammar, in order.
func TestProgramIsTheSequence(t *testing.T) {
	for seed := range int64(400) {
		random := rand.New(rand.NewSource(seed))
		grammar := grammar.NewSequitur()
		budget := 3000
		var generate func(depth int)
		generate = func(depth int) {
			type statement struct {
				call        int32
				body        func(depth int)
				trips, vary int
			}
			var body []statement
			for range 1 + random.Intn(4) {
				s := statement{call: int32(random.Intn(12)), trips: 1 + random.Intn(6), vary: random.Intn(3)}
				if depth > 0 && random.Intn(2) == 0 {
					s.body = generate
				}
				body = append(body, s)
			}
			fixed := random.Int63()
			for i := range 1 + random.Intn(7) {
				for _, s := range body {
					if budget--; budget < 0 {
						return
					}
					switch {
					case s.body != nil && s.vary == 0: // the same again
						saved := random
						random = rand.New(rand.NewSource(fixed))
						s.body(depth - 1)
						random = saved
					case s.vary == 1 && i%2 == 1: // only in every other iteration
					case s.vary == 2: // another argument each time
						grammar.Append(s.call/3*3 + int32(i%3))
					default:
						for range s.trips {
							grammar.Append(s.call)
						}
					}
				}
			}
		}
		generate(3)
		g := grammar.Grammar()
		e := expansion{b: newBuilder(newSearch(t.Context()), g, kindOf), met: map[*item]*progress{}}
		e.run(e.b.body(0).items)
		require.Equal(t, g.Expand(0), e.calls, "seed %d", seed)
		// and without arguments
		e = expansion{b: newBuilder(newSearch(t.Context()), g, kindOf), met: map[*item]*progress{}}
		e.run(e.b.withoutArguments(0))
		require.Equal(t, g.Expand(0), e.calls, "seed %d, without arguments", seed)
	}
}

// TestIterationsThatDiffer: iterations that begin and end alike and have some of a few calls
// between, in any order, a call in two or three places too (osu_iallreduce polls like that):
// folded, they are the same sequence.
func TestIterationsThatDiffer(t *testing.T) {
	loops := 0
	for seed := range int64(20000) {
		random := rand.New(rand.NewSource(seed))
		kinds := 2 + random.Int31n(3)
		var items []*item
		var calls []int32
		add := func(terminal int32) {
			items, calls = append(items, newCall(terminal, uint64(terminal)+1, 1)), append(calls, terminal)
		}
		for range 2 + random.Intn(6) {
			add(0)
			for range random.Intn(8) {
				add(2 + random.Int31n(kinds))
			}
			add(1)
		}
		pairs := leastPairs
		folded := newSearch(t.Context()).partial(items, &pairs)
		if len(folded) < len(items) {
			loops++
		}
		e := expansion{met: map[*item]*progress{}}
		e.run(folded)
		require.Equal(t, calls, e.calls, "seed %d", seed)
	}
	require.Greater(t, loops, 1000)
}

// TestLongGrammarKeepsParts: a text stays short where a grammar is deep.
func TestLongGrammarKeepsParts(t *testing.T) {
	// rule i is rule i+1, a call of its own, and rule i+1 again: 2^30 calls
	g := grammar.Grammar{}
	const depth = 30
	for i := range depth {
		g.Rules = append(g.Rules, []grammar.Symbol{grammar.RuleSymbol(i+1, 1), {Value: int32(i), Count: 1}, grammar.RuleSymbol(i+1, 1)})
	}
	g.Rules = append(g.Rules, []grammar.Symbol{{Value: depth, Count: 1}, {Value: depth + 1, Count: 1}})
	b := newBuilder(newSearch(t.Context()), g, func(terminal int32) uint64 { return uint64(terminal) + 1 })
	items := 0
	todo := []int{0}
	seen := map[int]bool{0: true}
	for len(todo) > 0 {
		body := b.body(todo[0]).items
		todo = todo[1:]
		items += len(body)
		for part := range b.parts {
			if !seen[part] {
				seen[part] = true
				todo = append(todo, part)
			}
		}
	}
	require.Less(t, items, 20*maxItems)
	require.Positive(t, len(seen))
}
