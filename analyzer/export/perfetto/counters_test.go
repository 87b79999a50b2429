package perfetto

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// values of the counters with a name, by the names of their parents: time in units since the run
// began, and value.
func (f *file) values(t *testing.T, name string) map[string][][2]float64 {
	t.Helper()
	values := map[string][][2]float64{}
	for _, e := range f.events {
		if f.tracks[e.track] != name {
			continue
		}
		require.EqualValues(t, 4, e.kind)
		parent := f.tracks[f.parent[e.track]]
		values[parent] = append(values[parent], [2]float64{float64(e.time) / tracetest.Unit, e.value})
	}
	return values
}

// Rank 1's 8 bytes leave at 7 after the run began and are received at 8, rank 0's leave then and
// are received at 10.
func TestBytesInFlight(t *testing.T) {
	f, summary := written(t, two(), Options{})
	assert.Equal(t, map[string][][2]float64{"": {{7, 8}, {10, 0}}}, f.values(t, "Bytes in flight"))
	assert.Equal(t, map[string][][2]float64{f.tracks[firstTrack]: {{8, 8}, {10, 0}}, f.tracks[firstTrack+1]: {{7, 8}, {8, 0}}},
		f.values(t, "bytes in flight"), "of each rank what it sent")
	assert.Equal(t, 4, summary.Counters, "and the efficiency")
	f, _ = written(t, two(), Options{From: 9 * time.Millisecond})
	assert.Equal(t, map[string][][2]float64{"": {{9, 8}, {10, 0}}}, f.values(t, "Bytes in flight"), "a value holds until the next one")
	f, _ = written(t, two(), Options{To: 9 * time.Millisecond})
	assert.Equal(t, map[string][][2]float64{"": {{7, 8}}}, f.values(t, "Bytes in flight"))
}

// Rank 0 has half a CPU for 4 units, then two, and is throttled in the last of them; nobody counts
// that for rank 1.
func TestCPUs(t *testing.T) {
	b := two()
	sample := func(at, cpu, throttled float64) trace.ContextSample {
		ns := func(units float64) int64 { return int64(units * tracetest.Unit) }
		return trace.ContextSample{MonotonicNS: ns(at), CPUNS: ns(cpu), ThrottledNS: ns(throttled), CPU: -1, StealNS: -1}
	}
	b.Rank(0).Info().Context = []trace.ContextSample{sample(1, 0, 0), sample(5, 2, 0), sample(9, 10, 0), sample(13, 18, 1)}
	unknown := []trace.ContextSample{sample(1, 0, 0), sample(13, 6, 0)}
	unknown[0].ThrottledNS, unknown[1].ThrottledNS = -1, -1
	b.Rank(1).Info().Context = unknown
	f, _ := written(t, b, Options{})
	first, second := f.tracks[firstTrack], f.tracks[firstTrack+1]
	near := func(want, have [][2]float64) {
		t.Helper()
		require.Len(t, have, len(want))
		// a trace rounds moments of samples to about a unit, and counts to 1/128
		for i := range want {
			assert.InDelta(t, want[i][0], have[i][0], 1.2)
			assert.InDelta(t, want[i][1], have[i][1], 2)
		}
	}
	near([][2]float64{{0, 50}, {4, 200}, {12, 0}}, f.values(t, "CPU use")[first])
	near([][2]float64{{0, 50}, {12, 0}}, f.values(t, "CPU use")[second])
	near([][2]float64{{0, 0}, {8, 25}, {12, 0}}, f.values(t, "throttled")[first])
	assert.Len(t, f.values(t, "throttled"), 1)
	assert.Empty(t, f.values(t, "waits for a CPU"))
	f, _ = written(t, b, Options{Ranks: []int{1}})
	assert.Len(t, f.values(t, "CPU use"), 1)
}

// A stencil of 20 iterations is one loop between a beginning and an end, which follow each other
// without overlap.
func TestPhases(t *testing.T) {
	c := simulate.Config{Pattern: "stencil2d", Ranks: 4, Iterations: 20}
	f, summary := exported(t, timeline.Of(tracetest.Open(t, tracetest.Simulated(t, c))), Options{})
	var names []string
	last := uint64(0)
	for _, s := range f.imported(t).slices {
		if s.track != phasesTrack {
			continue
		}
		names = append(names, s.name)
		assert.Equal(t, -1, s.parent)
		assert.GreaterOrEqual(t, s.start, last)
		last = s.end
	}
	require.Len(t, names, summary.Phases)
	assert.Contains(t, names[1], ": 20 iterations")
	for _, v := range f.values(t, "Parallel efficiency")[""] {
		assert.True(t, v[1] >= 0 && v[1] <= 100, "%v", v)
	}
}

// What ranks have in flight adds up, at each time, to what the job has.
func TestBytesInFlightAddUp(t *testing.T) {
	f, _ := exported(t, timeline.Of(tracetest.Open(t, tracetest.Rounded(t, tracetest.Random(t, 3, 5, 60, time.Millisecond), "lossy 20"))), Options{})
	changes := func(name string) map[float64]float64 {
		at := map[float64]float64{}
		for _, values := range f.values(t, name) {
			last := 0.0
			for _, v := range values {
				at[v[0]] += v[1] - last
				last = v[1]
				assert.GreaterOrEqual(t, last, 0.0)
			}
			assert.Zero(t, last, "all was received in the end")
		}
		maps.DeleteFunc(at, func(_, change float64) bool { return change == 0 })
		return at
	}
	assert.NotEmpty(t, changes("Bytes in flight"))
	assert.Len(t, f.values(t, "bytes in flight"), 5)
	assert.Equal(t, changes("Bytes in flight"), changes("bytes in flight"))
}
