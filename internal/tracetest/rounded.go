package tracetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Rounded returns a lossless trace as the tracer would have written it with other timing settings
// ("lossy 5"): the same calls, with their times rounded thread by thread.
func Rounded(t testing.TB, content *trace.Content, mode string) *trace.Content {
	t.Helper()
	settings, err := timing.ParseSettings(mode)
	if err != nil || settings.Mode == timing.Aggregated || content.Meta.Timing.Mode != timing.Lossless {
		t.Fatalf("tracetest: a trace with %s timing cannot become %q (%v)", content.Meta.Timing.Mode, mode, err)
	}
	rounded := *content
	rounded.Meta.Timing = settings
	if settings.Mode != timing.Lossy {
		return &rounded
	}
	grids := map[uint16]*timing.Grid{}
	for i := range content.Functions {
		f := &content.Functions[i]
		if grids[f.ID], err = timing.GridOf(settings.ErrorOf(f.Name)); err != nil {
			t.Fatalf("tracetest: %v", err)
		}
	}
	rounded.Threads = trace.ThreadTable{}
	for _, thread := range content.Threads.All() {
		gaps, durations := make([]int64, thread.Calls), make([]int64, thread.Calls)
		copyTimes(t, &thread, gaps, durations)
		walk := content.Grammar.Walk(thread.Root)
		var rounder timing.Rounder
		for i := range gaps {
			terminal, _ := walk.Next()
			pair := []int64{gaps[i], durations[i]}
			rounder.Round(grids[content.Signatures[terminal].Function], pair)
			gaps[i], durations[i] = pair[0], pair[1]
		}
		thread.Gaps, thread.Durations, thread.Timing = gaps, durations, nil
		rounded.Threads.Append(thread)
	}
	return &rounded
}

func copyTimes(t testing.TB, thread *trace.Thread, gaps, durations []int64) {
	t.Helper()
	if thread.Timing == nil {
		copy(gaps, thread.Gaps)
		copy(durations, thread.Durations)
		return
	}
	from, err := thread.Timing.OpenTiming()
	if err == nil {
		_, err = from.ReadTiming(gaps, durations)
	}
	if err != nil {
		t.Fatalf("tracetest: %v", err)
	}
}

// Aggregated returns a lossless trace with only the sums of its times.
func Aggregated(t testing.TB, c *trace.Content) *trace.Content {
	t.Helper()
	c.Meta.Timing = timing.Settings{Mode: timing.Aggregated}
	var threads []trace.Thread
	for i, thread := range c.Threads.All() {
		cursor, err := c.Cursor(thread.Rank, thread.Thread)
		if err != nil {
			t.Fatalf("tracetest: %v", err)
		}
		statistics, now := map[int32]*timing.Aggregate{}, thread.FirstTick
		for cursor.Next() {
			e := cursor.Event()
			if statistics[e.Terminal] == nil {
				statistics[e.Terminal] = &timing.Aggregate{Terminal: e.Terminal}
			}
			statistics[e.Terminal].Durations.Add(e.ExitTicks - e.EnterTicks)
			statistics[e.Terminal].Gaps.Add(e.EnterTicks - now)
			thread.InsideTicks += e.ExitTicks - e.EnterTicks
			now = e.ExitTicks
		}
		thread.InsideTicks -= c.Threads.At(i).InsideTicks
		thread.Gaps, thread.Durations, thread.Timing = nil, nil, nil
		for _, terminal := range slices.Sorted(maps.Keys(statistics)) {
			thread.Aggregates = append(thread.Aggregates, *statistics[terminal])
		}
		threads = append(threads, thread)
	}
	c.Threads = trace.NewThreadTable(threads...)
	return c
}
