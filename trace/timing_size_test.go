package trace

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/stretchr/testify/require"
)

var recorded = flag.String("traces", "", "traces for BenchmarkTimingOf, a pattern as a shell has it")

// BenchmarkTimingOf measures, for recorded traces, how fast a cursor reads them. For those with
// lossless timing it also reports the size of the timing on the grids of 5 and 20 per cent,
// compared with the Krichevsky-Trofimov code length of the same rounded intervals: in each block, a
// context by signature for durations, and by the signature and the one before for gaps, each with
// the values that occur in it as its alphabet, which a real code would have to store.
func BenchmarkTimingOf(b *testing.B) {
	files, err := filepath.Glob(*recorded)
	require.NoError(b, err)
	for _, name := range files {
		file, err := os.Open(name)
		require.NoError(b, err)
		defer file.Close()
		info, err := file.Stat()
		require.NoError(b, err)
		r, err := Open(file, info.Size())
		require.NoError(b, err)
		of := filepath.Base(filepath.Dir(name))
		b.Run("cursor/"+of, func(b *testing.B) { benchmarkCursorOf(b, r) })
		if r.Meta().Timing.Mode != timing.Lossless {
			continue
		}
		for _, percent := range []int{5, 20} {
			b.Run(fmt.Sprintf("size/%s/%d%%", of, percent), func(b *testing.B) { benchmarkTimingSize(b, r, percent) })
		}
	}
}

func benchmarkCursorOf(b *testing.B, r *Reader) {
	calls, before := 0, limits.CPUNS()
	for b.Loop() {
		for _, t := range r.Threads().All() {
			c, err := r.Cursor(t.Rank, t.Thread)
			require.NoError(b, err)
			for c.Next() {
				calls++
			}
			require.NoError(b, c.Err())
		}
	}
	b.ReportMetric(float64(calls)/float64(limits.CPUNS()-before)*1e3, "Mcalls/cpu-s")
}

func benchmarkTimingSize(b *testing.B, r *Reader, percent int) {
	grid, err := timing.GridOf(percent)
	require.NoError(b, err)
	plan := &timing.Plan{Functions: r.timingPlan.Functions, Grids: make([]*timing.Grid, len(r.timingPlan.Functions))}
	for i := range plan.Grids {
		plan.Grids[i] = grid
	}
	var calls, bytes int
	var ideal float64
	for b.Loop() {
		calls, bytes, ideal = 0, 0, 0
		for i := range r.Threads().Len() {
			gaps, durations, err := r.Timing(i)
			require.NoError(b, err)
			calls += len(gaps)
			walk := r.shared.Grammar.Walk(r.shared.Threads.At(i).Root)
			var rounder timing.Rounder
			for len(gaps) > 0 {
				n := min(len(gaps), timing.BlockCalls)
				e, before := timing.NewEncoder(plan), int32(-1)
				seen := intervalCounts{}
				for k := range n {
					terminal, _ := walk.Next()
					gap, duration := roundOne(&rounder, grid, gaps[k]), roundOne(&rounder, grid, durations[k])
					e.Call(terminal, gap, duration)
					seen.add(true, terminal, before, gap)
					seen.add(false, terminal, -1, duration)
					before = terminal
				}
				gaps, durations = gaps[n:], durations[n:]
				bytes += len(e.Finish(nil))
				ideal += seen.bits() / 8
			}
		}
	}
	b.ReportMetric(float64(bytes)/float64(calls), "bytes/call")
	b.ReportMetric(ideal/float64(calls), "KT-bytes/call")
}

type intervalContext struct {
	gap              bool
	terminal, before int32
}

// intervalCounts is how often each interval occurs in each context of a block.
type intervalCounts map[intervalContext]map[int64]int

func (c intervalCounts) add(gap bool, terminal, before int32, x int64) {
	key := intervalContext{gap, terminal, before}
	if c[key] == nil {
		c[key] = map[int64]int{}
	}
	c[key][x]++
}

// bits is the Krichevsky-Trofimov code length: of n values of an alphabet of m, one that has
// occurred k times is expected with the probability (k + 1/2)/(n + m/2).
func (c intervalCounts) bits() (sum float64) {
	for _, counts := range c {
		n, half := 0.0, float64(len(counts))/2
		for _, k := range counts {
			sum -= logGamma(float64(k)+0.5) - logGamma(0.5)
			n += float64(k)
		}
		sum += logGamma(n+half) - logGamma(half)
	}
	return sum / math.Ln2
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Of two values that alternate, KT gives the first 1/2, the second 1/4, then 1/2, 3/8.
func TestKrichevskyTrofimov(t *testing.T) {
	c := intervalCounts{}
	for i := range 4 {
		c.add(true, 3, 4, int64(i%2))
		c.add(false, 3, -1, 7) // one value only costs nothing
	}
	require.InDelta(t, -math.Log2(1./2*1/4*1/2*3/8), c.bits(), 1e-9)
}
