package activity_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/activity"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

var names = map[activity.Kind]string{
	activity.Computation: "computation", activity.Call: "call", activity.Waiting: "waiting", activity.Untraced: "untraced", activity.Tool: "tool",
}

// units converts a time of a test, which the trace rounds to nanoseconds.
func units(ns int64) float64 { return math.Round(float64(ns)/tracetest.Unit*1e4) / 1e4 }

// spansOf formats the spans of a rank's main thread, in units of the trace.
func spansOf(t *testing.T, b *tracetest.Builder, rank int) []string {
	t.Helper()
	r := timeline.Of(b.Open(t))
	p, err := activity.NewProgram(r)
	require.NoError(t, err)
	i := r.Threads().Find(rank, 0)
	l := timeline.Locations(r)[i]
	thread := p.Thread(int(r.Threads().Roots().At(i)))
	var list []string
	end := int64(-1)
	require.NoError(t, timeline.EachOf(context.Background(), r, i, l, nil, func(c *timeline.Call) error {
		step := thread.See(&c.Record, polling.Of(c.Event))
		if step == nil {
			return nil
		}
		assert.True(t, end < 0 || step.Start == end, "steps follow each other")
		at := step.Start
		for _, s := range step.Spans() {
			assert.Equal(t, at, s.From, "spans follow each other")
			at = s.To
			list = append(list, fmt.Sprintf("%s %g–%g", names[s.Kind], units(s.From), units(s.To)))
		}
		assert.Equal(t, step.End, at)
		end = step.End
		if step.Nested {
			list = append(list, "nested")
		}
		return nil
	}))
	return list
}

// TestSpansByHand: computation, polls 0.04 ms apart (waiting) and 1 ms apart (computation), a vote,
// an untraced part of the program, and a call in another one's callback. MPI_Initialized before
// MPI_Init and MPI_Finalized after MPI_Finalize are not part of the run.
func TestSpansByHand(t *testing.T) {
	b := tracetest.New(1)
	request := tracetest.Request(0)
	missed := tracetest.Args{"request": request, "flag": 0}
	hit := tracetest.Args{"request": request, "flag": 1, "status": tracetest.Status{Source: 0}}
	b.Rank(0).
		Call("MPI_Initialized", 0, 0.5, nil).
		Init(1, 2).
		Irecv(3, 3.5, 0, request).
		Call("MPI_Test", 4, 4.01, missed).
		Call("MPI_Test", 4.05, 4.06, missed).
		Call("MPI_Test", 5.06, 5.07, missed).
		Call("MPI_Test", 5.11, 5.12, hit).
		Call("MPI_Barrier", 5.16, 6, nil).
		Overhead(2).Call("MPI_Barrier", 9, 10, nil).
		Untraced().Call("MPI_Barrier", 12, 13, nil).
		Overhead(0.5).Untraced().Call("MPI_Barrier", 15, 16, nil).
		Call("MPI_Reduce", 17, 20, nil).
		Call("MPI_Comm_rank", 18, 19, nil).
		Finalize(21, 22).
		Call("MPI_Finalized", 23, 24, nil)
	assert.Equal(t, []string{
		"call 1–2",
		"computation 2–3", "call 3–3.5",
		"computation 3.5–4", "call 4–4.01",
		"waiting 4.01–4.05", "call 4.05–4.06",
		"computation 4.06–5.06", "call 5.06–5.07",
		"waiting 5.07–5.11", "call 5.11–5.12",
		"computation 5.12–5.16", "call 5.16–6",
		"tool 6–8", "computation 8–9", "call 9–10",
		"untraced 10–12", "call 12–13",
		"tool 13–13.5", "untraced 13.5–15", "call 15–16",
		"computation 16–17", "call 17–20",
		"nested",
		"computation 20–21", "call 21–22",
	}, spansOf(t, b, 0))
}

// A vote between two polls is overhead of the tracer. The rest of the time between them is waiting,
// although the polls are further apart than the limit.
func TestVoteBetweenPolls(t *testing.T) {
	b := tracetest.New(1)
	missed := tracetest.Args{"request": tracetest.Request(0), "flag": 0}
	b.Rank(0).Init(0, 1).
		Call("MPI_Test", 2, 2.01, missed).
		Overhead(3).Call("MPI_Test", 5.05, 5.06, missed).
		Finalize(6, 7)
	assert.Equal(t, []string{
		"call 0–1", "computation 1–2", "call 2–2.01", "tool 2.01–5.01", "waiting 5.01–5.05", "call 5.05–5.06", "computation 5.06–6", "call 6–7",
	}, spansOf(t, b, 0))
}

// Every call that tests without waiting is a poll, also one that completes nothing.
func TestAllPolls(t *testing.T) {
	for name, arguments := range map[string]tracetest.Args{
		"MPI_Test":                   {"request": tracetest.Request(0), "flag": 0},
		"MPI_Testall":                {"count": 1, "array_of_requests": tracetest.Requests{0}, "flag": 0},
		"MPI_Testany":                {"count": 1, "array_of_requests": tracetest.Requests{0}, "flag": 0},
		"MPI_Testsome":               {"incount": 1, "array_of_requests": tracetest.Requests{0}, "outcount": 0},
		"MPI_Iprobe":                 {"source": 0, "flag": 0},
		"MPI_Improbe":                {"source": 0, "flag": 0},
		"MPI_Request_get_status":     {"request": tracetest.Request(0), "flag": 0},
		"MPI_Request_get_status_all": {"count": 1, "array_of_requests": tracetest.Requests{0}, "flag": 0},
		"MPI_Parrived":               {"request": tracetest.Request(0), "partition": 0, "flag": 0},
		"MPI_Win_test":               {"win": tracetest.Win(0), "flag": 0},
	} {
		b := tracetest.New(1)
		b.Rank(0).Init(0, 1).Call(name, 2, 2.01, arguments).Call(name, 2.05, 2.06, arguments).Finalize(3, 4)
		assert.Equal(t, []string{
			"call 0–1", "computation 1–2", "call 2–2.01", "waiting 2.01–2.05", "call 2.05–2.06", "computation 2.06–3", "call 3–4",
		}, spansOf(t, b, 0), name)
	}
}

// For a thread that does not initialize MPI all calls count; for one that initializes it late, in a
// loop, those from there on.
func TestWhatCounts(t *testing.T) {
	b := tracetest.New(2)
	r := b.Rank(0)
	for k := range 7 {
		r.Call("MPI_Initialized", float64(k), float64(k)+0.5, nil)
	}
	r.Init(8, 9).Finalize(10, 11)
	b.Rank(1).Call("MPI_Barrier", 3, 4, nil).Call("MPI_Barrier", 5, 6, nil)
	assert.Equal(t, []string{"call 8–9", "computation 9–10", "call 10–11"}, spansOf(t, b, 0))
	assert.Equal(t, []string{"call 3–4", "computation 4–5", "call 5–6"}, spansOf(t, b, 1))
}
