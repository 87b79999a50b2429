package waitstate_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// waited is the wait of one call.
type waited struct {
	function string
	kind     waitstate.Kind
	ns       int64
	enter    int64
	exit     int64
	until    map[by]int64 // by reason: latest time that it may have waited until
}

// A by is the reason why a call may have waited.
type by int

const (
	sender   by = iota // a late sender
	receiver           // a late receiver
	returner           // a partner that had posted its side and returned to MPI
)

// waits returns the waits of all calls that complete something, by location in program order, and
// the maximum rounding error.
type waits struct {
	*waitstate.Finder
	trace timeline.Trace
	of    [][]waited
	last  *waitstate.State
	until map[*match.Completion]map[by]int64
	error int64
}

// Message records which locations may have delayed the calls at both ends, independently of the
// finder.
func (w *waits) Message(m *match.Message) {
	note := func(done *match.Completion, who by, until int64) {
		if done != nil {
			if w.until[done] == nil {
				w.until[done] = map[by]int64{}
			}
			w.until[done][who] = max(w.until[done][who], min(until, done.Exit))
		}
	}
	note(m.Receive.Done, sender, m.Send.Post.Enter)
	note(m.Receive.Done, returner, m.Send.Progress)
	note(m.Send.Done, receiver, m.Receive.Progress)
	w.Finder.Message(m)
}

func (w *waits) Settled(c *match.Completion) {
	w.last = nil
	w.Finder.Settled(c)
	one := waited{function: w.trace.Function(c.Function).Name, enter: c.Enter, exit: c.Exit, until: w.until[c]}
	delete(w.until, c)
	if w.last != nil {
		one.kind, one.ns = w.last.Kind, w.last.Waited()
	}
	w.of[c.Location] = append(w.of[c.Location], one)
}

func waitsOf(t *testing.T, content *trace.Content) *waits {
	t.Helper()
	w := &waits{trace: timeline.Of(tracetest.Open(t, content)), until: map[*match.Completion]map[by]int64{}}
	w.of = make([][]waited, content.Threads.Len())
	w.Finder = waitstate.NewFinder(w.trace, func(s *waitstate.State) { w.last = s })
	_, err := match.All(context.Background(), w.trace, nil, w, func(c *match.Call) {
		w.error = max(w.error, c.EnterError, c.ExitError)
	})
	require.NoError(t, err)
	return w
}

// assertSameWaits compares call by call. A wait is an interval between two times, each the maximum
// or minimum of several, so it may differ by the errors of two times. No longer wait appears or
// disappears.
func assertSameWaits(t *testing.T, content *trace.Content, mode string) {
	t.Helper()
	exact, got := waitsOf(t, content), waitsOf(t, tracetest.Rounded(t, content, mode))
	require.LessOrEqual(t, got.error, int64(timing.MomentTicks))
	assert.Zero(t, got.Violations.Count, mode)
	for l := range exact.of {
		require.Len(t, got.of[l], len(exact.of[l]))
		for i, e := range exact.of[l] {
			g := got.of[l][i]
			off := max(e.ns-g.ns, g.ns-e.ns)
			if off > 2*got.error {
				t.Errorf("%s: location %d, %d. %s (%d to %d): %s %d ns, rounded %s %d ns; times are off by %d at most",
					mode, l, i, e.function, e.enter, e.exit, e.kind, e.ns, g.kind, g.ns, got.error)
			}
			// of two that came at about the same time, either may have been the later one
			moments := slices.Sorted(maps.Values(e.until))
			n := len(moments)
			tie := n > 1 && moments[n-1]-moments[n-2] <= 2*got.error
			if min(e.ns, g.ns) > 2*got.error && e.kind != g.kind && !tie {
				t.Errorf("%s: location %d, %d. %s: %s %d ns, rounded %s %d ns", mode, l, i, e.function, e.kind, e.ns, g.kind, g.ns)
			}
		}
	}
}

// Waits of all patterns differ between lossless and lossy timing only by the errors of times.
func TestRoundingChangesWaitsByNoMoreThanItsError(t *testing.T) {
	for n, pattern := range simulate.Names() {
		for i, compute := range []time.Duration{30 * time.Microsecond, time.Millisecond, 30 * time.Millisecond} {
			for k, bytes := range []int{1 << 10, 100_000} {
				if testing.Short() && n%6 != 2*i+k { // each combination with some patterns
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", pattern, compute, bytes), func(t *testing.T) {
					t.Parallel()
					content := tracetest.Simulated(t, simulate.Config{Pattern: pattern, Ranks: 16, Iterations: 8, Compute: compute, Bytes: bytes,
						Imbalance: simulate.Imbalance{SlowRank: 4, SlowPercent: 30, Noise: 25}})
					for _, timing := range []string{"lossy 1", "lossy 5", "lossy 20 MPI_Send=1"} {
						assertSameWaits(t, content, timing)
					}
				})
			}
		}
	}
}

// The same for random programs.
func TestRoundingChangesWaitsOfRandomPrograms(t *testing.T) {
	seeds := int64(40)
	if testing.Short() {
		seeds = 9
	}
	for seed := range seeds {
		longest := []time.Duration{time.Millisecond, 50 * time.Millisecond, time.Second}[seed%3]
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			content := tracetest.Random(t, seed, 2+int(seed%5), 60, longest)
			for _, timing := range []string{"lossy 1", "lossy 5"} {
				assertSameWaits(t, content, timing)
			}
		})
	}
}
