package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// exchanged returns two ranks that compute for 2, rank 1 for 2.4, and exchange 64 KiB for 8, in
// each of 100 iterations. Of the run, their counters say that they lacked parts.
func exchanged(lacks [2]struct{ delayed, blocked float64 }) *tracetest.Builder {
	const iterations, run = 100, 1042
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("x.c:1").Init(0, 1)
		for k := range iterations {
			at := 1 + 10.4*float64(k)
			begin := at + []float64{2, 2.4}[i]
			r.At("x.c:2").Irecv(begin, begin, 1-i, 0)
			r.At("x.c:3").Isend(begin, begin, 1-i, 1)
			r.At("x.c:4").Waitall(begin, at+10.4, tracetest.Requests{0, 1}, tracetest.Status{Source: 1 - i, Bytes: 64 << 10}, tracetest.Status{})
		}
		r.At("x.c:5").Finalize(1041, run)
		part := func(of float64) int64 { return int64(of * run * tracetest.Unit) }
		r.Info().Context = []trace.ContextSample{{}, {
			MonotonicNS: part(1), CPUNS: part(1 - lacks[i].delayed - lacks[i].blocked), RunDelayNS: part(lacks[i].delayed) + tracetest.Unit,
		}}
	})
	return b
}

// What ranks lack in calls is not what messages cost, neither in the ledger nor in the verdict. Of
// 10.4 that an iteration takes, 8 are own time of calls on both ranks, 1600 in all. Computations of
// 200 on rank 0 and 240 on rank 1 are not measured. So they lack CPUs as calls do, in the ledger,
// too; whether they are blocked is not known, so that of 938 only 698 are certain to be in calls;
// the other 240 are taken to be in the 342 that are left of calls and computations of rank 1, of
// which it computes for 0.4 longer than rank 0. A rank that is blocked while it waits shows that
// calls do not poll.
func TestWhatCallsLackIsNoCost(t *testing.T) {
	type lacks = [2]struct{ delayed, blocked float64 }
	for name, c := range map[string]struct {
		lacks
		kind                         verdict.Kind
		form                         verdict.Form
		ranks                        string
		messages, preempted, blocked float64 // rows of the ledger
		gain                         float64
	}{
		"healthy":            {kind: verdict.Messages, form: verdict.TooLarge, messages: 1600, gain: 800},
		"both on one CPU":    {lacks: lacks{{delayed: 0.48}, {delayed: 0.48}}, kind: verdict.CPUs, form: verdict.TooFew, messages: 0.04 * 1600, preempted: 0.96*1600 + 0.48*440, gain: 0.96*800 + 0.48*240},
		"hog beside rank 1":  {lacks: lacks{1: {delayed: 0.6}}, kind: verdict.Excess, form: verdict.Preempted, ranks: "1", messages: 0.4 * 1600, preempted: 0.6*1600 + 0.6*240, gain: 0.6*800 + 40},
		"rank 1 is stopped":  {lacks: lacks{1: {blocked: 0.9}}, kind: verdict.Excess, form: verdict.Halted, ranks: "1", messages: 1600 - 2*698, blocked: 2 * 698, gain: 735},
		"waiting is blocked": {lacks: lacks{{blocked: 0.5}, {blocked: 0.9}}, kind: verdict.Messages, form: verdict.TooLarge, messages: 1600, gain: 800},
	} {
		f := find(t, exchanged(c.lacks).Content())
		v := f.Verdict
		require.NotEmpty(t, v.Causes, name)
		first := v.Causes[0]
		assert.Equal(t, c.kind, first.Kind, "%s: %s", name, v.Text)
		assert.Equal(t, c.form, first.Form, "%s: %s", name, v.Text)
		assert.Equal(t, c.ranks, v.Ranks, "%s: %s", name, v.Text)
		assert.InDelta(t, c.gain/1e3, *first.GainSeconds, 0.01, "%s: %s", name, v.Text)
		assert.InDelta(t, c.messages, f.milliseconds("messages"), 15, name)
		assert.InDelta(t, c.preempted, f.milliseconds("preempted"), 15, name)
		assert.InDelta(t, c.blocked, f.milliseconds("blocked"), 15, name)
		for _, next := range v.Causes[1:] {
			assert.LessOrEqual(t, *next.GainSeconds, (c.messages/2+15)/1e3, "%s: %s", name, v.Text)
		}
	}
}

// A rank that was seen suspended twice or more is that, where calls poll and where they do not.
func TestSeenSuspended(t *testing.T) {
	type lacks = [2]struct{ delayed, blocked float64 }
	for name, c := range map[string]struct {
		lacks
		seen trace.Suspensions
		form verdict.Form
	}{
		"twice":             {lacks{1: {blocked: 0.9}}, trace.Suspensions{Looks: 5, Suspended: 2}, verdict.BySignal},
		"all the time":      {lacks{1: {blocked: 0.9}}, trace.Suspensions{Looks: 5, Suspended: 5}, verdict.BySignal},
		"once":              {lacks{1: {blocked: 0.9}}, trace.Suspensions{Looks: 5, Suspended: 1}, verdict.Halted},
		"once in an hour":   {lacks{1: {blocked: 0.9}}, trace.Suspensions{Looks: 7200, Suspended: 2}, verdict.Halted},
		"for a part of it":  {lacks{1: {blocked: 0.9}}, trace.Suspensions{Looks: 100, Suspended: 20}, verdict.Halted},
		"but never blocked": {lacks{}, trace.Suspensions{Looks: 5, Suspended: 2}, verdict.TooLarge},
	} {
		b := exchanged(c.lacks)
		b.Ranks(func(i int, r *tracetest.Rank) {
			if i == 1 {
				r.Info().Suspensions = c.seen
			}
		})
		v := judged(t, b)
		first := v.Causes[0]
		require.Equal(t, c.form, first.Form, "%s: %s", name, v.Text)
		if c.form == verdict.BySignal {
			assert.Equal(t, "1", v.Ranks, name)
			assert.InDelta(t, 0.735, *first.GainSeconds, 0.01, "%s: %s", name, v.Text)
			assert.Equal(t, []uint64{5, uint64(c.seen.Suspended)}, []uint64{first.Looks, first.Suspended}, name)
		}
	}
}

// The compressor took a part of the time for which both ranks waited for a CPU, 0.48 · 1042 each.
// From half of it on the tracer is named, with that part of what the waits cost.
func TestCompressorTakesCPUs(t *testing.T) {
	for part, named := range map[float64]bool{0: false, 0.4: false, 0.6: true, 1: true, 1.5: true} {
		b := exchanged([2]struct{ delayed, blocked float64 }{{delayed: 0.48}, {delayed: 0.48}})
		b.Ranks(func(_ int, r *tracetest.Rank) {
			r.Info().Tracer = &trace.TracerUsage{CPUNS: int64(part * 0.96 * 1042 / 2 * tracetest.Unit)}
		})
		f := find(t, b.Content())
		first := f.Verdict.Causes[0]
		all := 0.96*800 + 0.48*240
		if !named {
			assert.Equal(t, verdict.TooFew, first.Form, "%v: %s", part, f.Verdict.Text)
			assert.InDelta(t, all/1e3, *first.GainSeconds, 0.01, "%v: %s", part, f.Verdict.Text)
			continue
		}
		assert.Equal(t, verdict.Compressor, first.Form, "%v: %s", part, f.Verdict.Text)
		assert.InDelta(t, min(1, part)*all/1e3, *first.GainSeconds, 0.06, "%v: %s", part, f.Verdict.Text)
		assert.InDelta(t, part*first.WaitedSeconds, first.CompressorSeconds, 0.06, "%v: %s", part, f.Verdict.Text)
		for _, next := range f.Verdict.Causes[1:] {
			assert.NotEqual(t, verdict.CPUs, next.Kind, "%v: %s", part, f.Verdict.Text)
		}
	}
}

// Two ranks on two machines wait for a CPU for as long. The compressor of the first one takes a
// part of that, or more than they wait there. Of the waits on the other machine that explains
// nothing.
func TestCompressorTakesCPUsOfItsMachine(t *testing.T) {
	for part, named := range map[float64]bool{0.4: false, 0.6: true, 3: true} {
		b := exchanged([2]struct{ delayed, blocked float64 }{{delayed: 0.48}, {delayed: 0.48}})
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.Info().Node = []string{"a", "b"}[i]
			r.Info().Tracer = &trace.TracerUsage{CPUNS: int64([]float64{part, 0}[i] * 0.48 * 1042 * tracetest.Unit)}
		})
		v := find(t, b.Content()).Verdict
		byForm := map[verdict.Form]verdict.Cause{}
		for _, c := range v.Causes {
			byForm[c.Form] = c
		}
		assert.Contains(t, byForm, verdict.TooFew, "%v: %s", part, v.Text)
		compressor, is := byForm[verdict.Compressor]
		if assert.Equal(t, named, is, "%v: %s", part, v.Text); is {
			waited := 0.48 * 1.042
			assert.InDelta(t, waited, compressor.WaitedSeconds, 0.05, "%v: %s", part, v.Text)
			assert.InDelta(t, part*waited, compressor.CompressorSeconds, 0.05, "%v: %s", part, v.Text)
			assert.InDelta(t, min(1, part)*0.48*0.8, *compressor.GainSeconds, 0.06, "%v: %s", part, v.Text)
		}
	}
}
