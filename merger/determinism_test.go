package merger

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// enriched adds optional data to simulated ranks: several threads, clock samples and counts of the
// operating system in different numbers, markers; and, if requested, times as aggregates only.
func enriched(inputs []*trace.Content, aggregated bool) []*trace.Content {
	for rank, c := range inputs {
		random := rand.New(rand.NewSource(int64(100 + rank)))
		c.Functions = append(slices.Clone(c.Functions), trace.Function{ID: 8, Name: "MPI_Pcontrol", Class: "pcontrol", Return: "int",
			Parameters: []trace.Parameter{{Name: "level", Kind: "int", Direction: trace.In}}})
		c.Ranks.Change(0, func(r *trace.Rank) {
			r.Pod, r.Node, r.Dropped = "pod", []string{"a", "b"}[rank%2], uint64(rank%3)
			for k := range rank % 4 {
				last := r.Clock.Samples[len(r.Clock.Samples)-1]
				last.Ticks += 1_000_000 + random.Int63n(100)
				last.MonotonicNS += int64(k+1)*1_000_000 + random.Int63n(100)
				last.RealtimeNS += int64(k+1)*1_000_000 + random.Int63n(100)
				r.Clock.Samples = append(r.Clock.Samples, last)
				r.Context = append(r.Context, trace.ContextSample{MonotonicNS: int64(1000 * k), CPUNS: random.Int63n(1000), ThrottledNS: -1, CPU: int64(rank)})
			}
		})
		for thread := 1; thread <= rank%3; thread++ {
			mark := int32(len(c.Signatures))
			for level := range 2 + thread {
				c.Signatures = append(c.Signatures, trace.Signature{Function: 8, OwnRank: -1, In: []trace.Value{num(100 + level*rank)}})
			}
			var body []grammar.Symbol
			calls := uint64(0)
			for level := range 2 + thread {
				body = append(body, grammar.Symbol{Value: mark + int32(level), Count: uint64(1 + level)})
				calls += uint64(1 + level)
			}
			t := trace.Thread{Rank: rank, Thread: thread, Root: len(c.Grammar.Rules), Calls: calls, FirstTick: random.Int63n(50)}
			for range calls {
				t.Gaps, t.Durations = append(t.Gaps, random.Int63n(100)), append(t.Durations, random.Int63n(100))
			}
			t.EndTick, t.InsideTicks = t.FirstTick+random.Int63n(1000), random.Int63n(1000)
			c.Grammar.Rules = append(c.Grammar.Rules, body)
			c.Threads.Append(t)
		}
		if aggregated {
			c.Meta.Timing = timing.Settings{Mode: timing.Aggregated}
			for i := range c.Threads.Len() {
				c.Threads.Change(i, func(t *trace.Thread) { aggregate(c, t) })
			}
		}
	}
	return inputs
}

// aggregate adds up the times of a thread by signature, as a recorder does.
func aggregate(c *trace.Content, t *trace.Thread) {
	byTerminal := map[int32]*timing.Aggregate{}
	next := 0
	for terminal := range c.Grammar.All(t.Root) {
		if byTerminal[terminal] == nil {
			byTerminal[terminal] = &timing.Aggregate{Terminal: terminal}
		}
		byTerminal[terminal].Gaps.Add(t.Gaps[next])
		byTerminal[terminal].Durations.Add(t.Durations[next])
		next++
	}
	for terminal := range c.Signatures {
		if a := byTerminal[int32(terminal)]; a != nil {
			t.Aggregates = append(t.Aggregates, *a)
		}
	}
	t.Gaps, t.Durations = nil, nil
}

// Like TestOrderAndTreeDoNotMatter, with all optional data of ranks.
func TestOrderAndTreeDoNotMatterWhateverRanksHave(t *testing.T) {
	for name, aggregated := range map[string]bool{"times of calls": false, "aggregates": true} {
		t.Run(name, func(t *testing.T) {
			inputs := enriched(simulate("w", 11, 5, 3), aggregated)
			want := merge(t, true, inputs...)
			file := fileOf(t, want)
			r, err := trace.Open(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			require.Equal(t, 21, r.Threads().Len())
			require.Len(t, r.Rank(7).Context, 2, "the first and the last")
			require.Len(t, r.Rank(7).Clock.Samples, 4, "the second of five lies between the first and the third")
			aggregates, err := r.Aggregates(r.Threads().Len() - 1)
			require.NoError(t, err)
			require.Equal(t, aggregated, len(aggregates) > 0)
			trees := int64(200)
			if testing.Short() {
				trees = 20
			}
			for seed := range trees {
				got := fileOf(t, mergeFiles(t, rand.New(rand.NewSource(seed)), inputs))
				require.True(t, bytes.Equal(file, got), "seed %d: other bytes", seed)
			}
		})
	}
}
