package causes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// measured returns eight ranks that take work(rank) before the barrier of each of 30 iterations,
// thereof delay(rank) ready to run without a CPU, as the tracer's threads measured.
func measured(work, delay func(rank int) float64) *tracetest.Builder {
	const iterations = 30
	b, longest := tracetest.New(8), 0.0
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("v.c:1").Init(0, 1)
		longest = max(longest, work(i))
	})
	b.Ranks(func(i int, r *tracetest.Rank) {
		now := 1.0
		for range iterations {
			r.At("v.c:2").Collective("MPI_Barrier", now+work(i), now+longest+0.1)
			now += longest + 0.1
		}
		r.At("v.c:3").Finalize(now, now+1)
		barrier := trace.CallSite{Function: mpi.ByName("MPI_Barrier").ID, Site: 2}
		wall, delayed := int64((iterations-1)*work(i)*tracetest.Unit), int64((iterations-1)*delay(i)*tracetest.Unit)
		r.Info().Evidence = []trace.EvidenceRow{{
			EvidenceKey: trace.EvidenceKey{After: barrier, Before: barrier},
			Count:       iterations - 1, WallNS: wall, CPUNS: wall - delayed, RunDelayNS: delayed,
		}}
	})
	return b
}

func ofOne(slow int, its, others float64) func(int) float64 {
	return func(rank int) float64 {
		if rank == slow {
			return its
		}
		return others
	}
}

// Where waits for a CPU are measured, only the time with a CPU is a rank's work: 30 times 10, or 15
// for rank 5. If rank 5 has a CPU it works longer. If it waits for one, it was preempted, and works
// longer only before the first barrier, where nothing is measured. Without that each barrier that
// follows another one, 29 of 30, comes 5 sooner. Traces hold rounded measurements.
func TestWorkWithMeasuredDelays(t *testing.T) {
	for _, c := range []struct {
		delay, work, tolerance float64
		form                   verdict.Form
	}{{0, 0.450, 1e-6, verdict.Always}, {5, 0.305, 0.001, verdict.Preempted}} {
		inSearch(t, measured(ofOne(5, 15, 10), ofOne(5, c.delay, 0)), func(f *Found) {
			for _, w := range f.evidence.Workers(outliers.ByEvidence, nil) {
				assert.InDelta(t, ofOne(5, c.work, 0.300)(w.Row), w.Useful, 0.001)
			}
			require.NotEmpty(t, f.causes)
			cause := f.causes[0].Cause
			assert.Equal(t, verdict.Excess, cause.Kind)
			assert.Equal(t, "5", cause.Ranks)
			assert.Equal(t, c.form, cause.Form)
			assert.InDelta(t, 29*0.005, *cause.GainSeconds, c.tolerance)
		})
	}
}

// Rank 5 has 16 of work instead of 10, and a CPU limit stops it for another 1.5 each time: both are
// causes, each with its own gain. The limit explains its waits for a CPU, although not most of what
// it takes longer. If it does not explain them, they are too short to be named.
func TestLimitBesideMoreWork(t *testing.T) {
	for throttled, forms := range map[float64][]verdict.Form{29 * 1.5: {verdict.Always, verdict.Stopped}, 29 * 0.5: {verdict.Always}} {
		b := measured(ofOne(5, 17.5, 10), ofOne(5, 1.5, 0))
		b.Ranks(func(rank int, r *tracetest.Rank) {
			ns := int64(ofOne(5, throttled, 0)(rank) * tracetest.Unit)
			r.Info().Context = []trace.ContextSample{{}, {ThrottledNS: ns}}
		})
		inSearch(t, b, func(f *Found) {
			require.Len(t, f.causes, len(forms))
			for i, form := range forms {
				cause := f.causes[i].Cause
				assert.Equal(t, verdict.Excess, cause.Kind)
				assert.Equal(t, "5", cause.Ranks)
				assert.Equal(t, form, cause.Form)
				assert.InDelta(t, []float64{29 * 0.006, 29 * 0.0015}[i], *cause.GainSeconds, 0.016)
			}
			if len(forms) > 1 {
				assert.InDelta(t, throttled/1000, f.causes[1].Cause.StoppedSeconds, 1e-4)
				assert.Contains(t, f.Verdict(nil, nil, &phases.Findings{}).Text, "Next: rank 5, which is stopped by a CPU limit")
			}
		})
	}
}

// blockedThere replaces the measured waits for a CPU of measured by waits in the kernel.
func blockedThere(work, blocked func(rank int) float64) *tracetest.Builder {
	b := measured(work, blocked)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Info().Evidence[0].RunDelayNS = 0 })
	return b
}

// All ranks are blocked for 8 of the 10 between two barriers: nothing else is slow, so that is
// named, with the gain of 29 times 8. If data was read or written, it is for files.
func TestAllRanksAreBlocked(t *testing.T) {
	same := func(ns float64) func(int) float64 { return func(int) float64 { return ns } }
	for _, bytes := range []int64{trace.Unknown, 1 << 24} {
		b := blockedThere(same(10), same(8))
		b.Ranks(func(_ int, r *tracetest.Rank) {
			row := &r.Info().Evidence[0]
			if row.IOBytes, row.DataNS = bytes, trace.Unknown; bytes > 0 {
				row.DataNS = 200 * tracetest.Unit
			}
		})
		inSearch(t, b, func(f *Found) {
			require.Len(t, f.causes, 1)
			c := f.causes[0].Cause
			assert.Equal(t, map[bool]verdict.Kind{false: verdict.Kernel, true: verdict.IO}[bytes > 0], c.Kind)
			assert.Empty(t, c.Ranks)
			assert.InDelta(t, 29*0.008, c.BlockedSeconds, 1e-3)
			assert.InDelta(t, 29*0.008, *c.GainSeconds, 0.005)
		})
	}
}

// twoRegions returns two ranks that compute before an MPI_Allreduce (v.c:3) and before the
// MPI_Barrier (v.c:2) of each iteration, rank 0 longer than rank 1.
func twoRegions(iterations int, work [2][2]float64) *tracetest.Builder {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		now, longest := 1.0, work[0]
		r.At("v.c:1").Init(0, now)
		r.At("v.c:2").Collective("MPI_Barrier", now, now)
		for range iterations {
			r.At("v.c:3").Collective("MPI_Allreduce", now+work[i][0], now+longest[0])
			now += longest[0]
			r.At("v.c:2").Collective("MPI_Barrier", now+work[i][1], now+longest[1])
			now += longest[1]
		}
		r.At("v.c:4").Finalize(now, now+1)
	})
	return b
}

// In each of 60 iterations rank 0 of two takes 7 in a region, of which it is blocked for 3, where
// the other computes for 4, and 4 in another one, where the other has nothing to do. If it is
// blocked for 1.5 of that, these 4.5 are more than equal work would gain (3.5), although most of
// what rank 0 does alone is work. The rest of what it computes longer is another cause.
func TestBlockedBesideWork(t *testing.T) {
	const iterations = 60
	for blocked, first := range map[float64]verdict.Form{1.5: verdict.Blocked, 0: verdict.Always} {
		work := [2][2]float64{{7, 4}, {4, 0.01}}
		b := twoRegions(iterations, work)
		b.Ranks(func(i int, r *tracetest.Rank) {
			barrier := trace.CallSite{Function: mpi.ByName("MPI_Barrier").ID, Site: 2}
			reduce := trace.CallSite{Function: mpi.ByName("MPI_Allreduce").ID, Site: 3}
			row := func(after, before trace.CallSite, wall, blocked float64) trace.EvidenceRow {
				return trace.EvidenceRow{
					EvidenceKey: trace.EvidenceKey{After: after, Before: before}, Count: iterations,
					WallNS: int64(iterations * wall * tracetest.Unit), CPUNS: int64(iterations * (wall - blocked) * tracetest.Unit),
				}
			}
			r.Info().Evidence = []trace.EvidenceRow{row(barrier, reduce, work[i][0], 3*float64(1-i)), row(reduce, barrier, work[i][1], blocked*float64(1-i))}
		})
		inSearch(t, b, func(f *Found) {
			require.NotEmpty(t, f.causes)
			c := f.causes[0].Cause
			text := f.Verdict(nil, nil, &phases.Findings{}).Text
			assert.Equal(t, verdict.Excess, c.Kind, text)
			assert.Equal(t, first, c.Form, text)
			assert.Equal(t, "0", c.Ranks, text)
			if first == verdict.Blocked {
				assert.InDelta(t, iterations*0.0045, *c.GainSeconds, 0.01, text)
				assert.InDelta(t, iterations*0.003, c.BlockedSeconds, 0.01, text)
				require.Len(t, f.causes, 2, text)
				assert.Equal(t, verdict.Always, f.causes[1].Cause.Form, text)
				assert.InDelta(t, iterations*0.0025, *f.causes[1].Cause.GainSeconds, 0.01, text)
			}
		})
	}
}

// In each of 60 iterations rank 0 of two computes for 20, all of it measured, and for 5 in another
// region that is not. Its counters of the whole run say that it was stopped for 3.5 an iteration:
// that was in the latter, and no more is gained.
func TestStopsAreNotWhereThingsAreMeasured(t *testing.T) {
	const iterations, run = 60, 60*25 + 2
	work := [2][2]float64{{20, 5}, {0.1, 0.1}}
	b := twoRegions(iterations, work)
	b.Ranks(func(i int, r *tracetest.Rank) {
		stopped := 3.5 * iterations * float64(1-i)
		r.Info().Context = []trace.ContextSample{{}, {
			MonotonicNS: run * tracetest.Unit, CPUNS: int64((run - stopped) * tracetest.Unit), RunDelayNS: tracetest.Unit,
		}}
		r.Info().Evidence = []trace.EvidenceRow{{
			EvidenceKey: trace.EvidenceKey{
				After:  trace.CallSite{Function: mpi.ByName("MPI_Barrier").ID, Site: 2},
				Before: trace.CallSite{Function: mpi.ByName("MPI_Allreduce").ID, Site: 3},
			},
			Count: iterations, WallNS: int64(iterations * work[i][0] * tracetest.Unit), CPUNS: int64(iterations * work[i][0] * tracetest.Unit),
		}}
	})
	inSearch(t, b, func(f *Found) {
		found := false
		for i := range f.All {
			if h := &f.All[i]; h.Cause.Form == verdict.Halted {
				found = true
				assert.Equal(t, "0", h.Cause.Ranks)
				assert.InDelta(t, 0.210, float64(f.evidence.Run()-h.length)/1e9, 0.010)
				assert.InDelta(t, 0.210, h.Cause.BlockedSeconds, 0.010)
			}
		}
		assert.True(t, found)
	})
}

// CPU limits throttle some ranks. Those are named; all are alike if the shortest is throttled half
// as long as the longest.
func TestThrottledMost(t *testing.T) {
	for _, c := range []struct {
		seconds []float64 // −1: not known
		rows    []int
	}{
		{[]float64{0, 1}, []int{1}},
		{[]float64{0.6, 1}, nil},
		{[]float64{1, 0.1, 0.9, 1}, []int{0, 2, 3}},
		{[]float64{1, -1}, nil},
		{[]float64{0, 0}, nil},
	} {
		e := &evidence{Comparison: outliers.New(&accounts.Accounts{End: 1e9, Progressed: 1e9})}
		for row, seconds := range c.seconds {
			r := trace.Rank{Rank: row, Context: []trace.ContextSample{{}, {ThrottledNS: int64(seconds * 1e9)}}}
			e.Ranks, e.MainOf = append(e.Ranks, r), append(e.MainOf, row)
		}
		var rows []int
		for _, w := range throttledMost(e) {
			rows = append(rows, w.Row)
		}
		assert.Equal(t, c.rows, rows, "%v", c.seconds)
	}
}

// Four of eight ranks are blocked before the barrier, the others compute next to nothing: that is
// no unequal work, and the sentence says so.
func TestBlockedRanksHaveNoWork(t *testing.T) {
	of := func(odd float64) func(int) float64 {
		return func(rank int) float64 { return 0.2 + float64(rank%2)*odd }
	}
	inSearch(t, blockedThere(of(10), func(rank int) float64 { return 9.9 * float64(rank%2) }), func(f *Found) {
		require.NotEmpty(t, f.causes)
		c := f.causes[0].Cause
		assert.Equal(t, verdict.Imbalance, c.Kind)
		assert.Equal(t, "1-7:2", c.Ranks)
		assert.InDelta(t, 29*0.0099, c.BlockedSeconds, 2e-3)
		text := f.Verdict(nil, nil, &phases.Findings{}).Text
		assert.NotContains(t, text, "compute between")
		assert.Contains(t, text, ", rank 1 the longest, 285 ms of that blocked, not computing; ranks 1-7:2 spend more than the rest;")
		assert.InDelta(t, 29*0.010, *c.GainSeconds, 0.011) // before the first barrier nothing is measured
		assert.InDelta(t, 29*0.005, *c.SharedGainSeconds, 0.006)
	})
}

// Ranks 0 and 1 sleep for 500 in each of 4 iterations, ranks 2 and 3 for 400 in all. Rank 1 sleeps
// before it receives, rank 0 after it has sent, so that it waits once, for 480. That is seen.
// Nothing tells whether the program wants them to sleep, and equal sleep gains next to nothing.
func TestALateReceiverThatSleeps(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("l.c:1").Init(0, 1)
		site := trace.CallSite{Function: mpi.ByName("MPI_Ssend").ID, Site: 2}
		if i == 1 {
			site = trace.CallSite{Function: mpi.ByName("MPI_Recv").ID, Site: 5}
		}
		asleep := func(after, before trace.CallSite, times uint64, ms int64) {
			r.Info().Evidence = append(r.Info().Evidence, trace.EvidenceRow{EvidenceKey: trace.EvidenceKey{After: after, Before: before}, Count: times, WallNS: ms * tracetest.Unit})
		}
		barrier := trace.CallSite{Function: mpi.ByName("MPI_Barrier").ID, Site: 3}
		start := trace.CallSite{Function: mpi.ByName("MPI_Init").ID, Site: 1}
		enter := 2001.0
		switch i {
		case 0:
			for k, at := range []float64{21, 1001, 1501, 2001} {
				r.At("l.c:2").Ssend(at, 501+500*float64(k), 1)
			}
			asleep(site, site, 3, 1500)
			asleep(site, barrier, 1, 480)
			enter = 2481
		case 1:
			for k := range 4 {
				at := 501 + 500*float64(k)
				r.At("l.c:5").Recv(at, at, 0, 1<<22)
			}
			asleep(start, site, 1, 500)
			asleep(site, site, 3, 1500)
		default:
			asleep(start, barrier, 1, 400)
			enter = 401
		}
		r.At("l.c:3").Collective("MPI_Barrier", enter, 2481)
		r.At("l.c:4").Finalize(2481, 2482)
	})
	inSearch(t, b, func(f *Found) {
		text := f.Verdict(nil, nil, &phases.Findings{}).Text
		require.Len(t, f.causes, 2, text)
		assert.Equal(t, verdict.LateReceiver, f.causes[0].Cause.Kind, text)
		assert.Equal(t, "1", f.causes[0].Cause.Ranks, text)
		assert.InDelta(t, 0.480, *f.causes[0].Cause.GainSeconds, 0.005, text)
		assert.Equal(t, verdict.Imbalance, f.causes[1].Cause.Kind, text)
		assert.Equal(t, "0-1", f.causes[1].Cause.Ranks, text)
	})
}

// Rank 5 takes 60 instead of 10, and the kernel works for it for 45 of these, or it has 6,000 page
// faults. Both are named with the excess, and only if they are known and explain it. 29 of 30
// instances were measured, with 1740 of 1741.
func TestKernelWorksForARank(t *testing.T) {
	const system = 29 * 45 * tracetest.Unit
	for name, c := range map[string]struct {
		usage   trace.Usage
		want    string
		advises string
	}{
		"system calls":          {trace.Usage{SystemNS: system}, "; the kernel works for 45.1 ms of that.", "strace -c -p"},
		"page faults":           {trace.Usage{SystemNS: system, MinorFaults: 29 * 6000}, "; the kernel works for 45.1 ms of that; 6,002 page faults more each time.", "allocate it once and reuse it"},
		"faults, time unknown":  {trace.Usage{SystemNS: trace.Unknown, MinorFaults: 29 * 6000}, "the others for 10 ms; 6,002 page faults more each time.", "allocate it once and reuse it"},
		"a tenth of the excess": {trace.Usage{SystemNS: system / 9, MinorFaults: 29 * 100}, "the others for 10 ms.", "its CPU is slower"},
		"unknown":               {trace.Usage{SystemNS: trace.Unknown, MinorFaults: trace.Unknown, MajorFaults: trace.Unknown}, "the others for 10 ms.", "its CPU is slower"},
	} {
		b := measured(ofOne(5, 60, 10), ofOne(5, 0, 0))
		b.Rank(5).Info().Evidence[0].Usage = c.usage
		inSearch(t, b, func(f *Found) {
			v := f.Verdict(nil, nil, &phases.Findings{})
			require.Equal(t, verdict.Excess, v.Blames, name+": "+v.Text)
			assert.Equal(t, "5", v.Ranks, name)
			assert.Contains(t, v.Text, c.want, name)
			assert.Contains(t, strings.Join(v.Causes[0].Advice(verdict.Neighbors{}), " "), c.advises, name)
		})
	}
}

// The kernel works for all ranks alike for 15 of the 60 between two barriers, since they have 6,000
// page faults, or for another reason. That is named where it is known, and gains 29 times 15. For
// one rank of eight it would be an excess.
func TestKernelWorksForAllRanks(t *testing.T) {
	const system = 29 * 15 * tracetest.Unit
	same := func(ns float64) func(int) float64 { return func(int) float64 { return ns } }
	for name, c := range map[string]struct {
		usage   trace.Usage
		says    string
		advises string
	}{
		"page faults":  {trace.Usage{SystemNS: system, MinorFaults: 29 * 6000}, "Page faults make this job slow: all ranks alike spend 60 ms on average between two calls of MPI_Barrier at v.c:2; the kernel works for 15 ms of that, with 6,002 page faults each time.", "allocate it once and reuse it"},
		"system calls": {trace.Usage{SystemNS: system, MinorFaults: 29 * 100}, "System time makes this job slow: all ranks alike spend 60 ms on average between two calls of MPI_Barrier at v.c:2; the kernel works for 15 ms of that.", "strace -c -p"},
		"mapped files": {trace.Usage{SystemNS: system, MinorFaults: 29 * 6000}, "Files make this job slow: all ranks alike spend 60 ms on average between two calls of MPI_Barrier at v.c:2; the kernel works for 15 ms of that, with 10 MiB read or written meanwhile.", "page faults of mapped ones"},
		"little":       {trace.Usage{SystemNS: system / 3}, "", ""},
		"unknown":      {trace.Usage{SystemNS: trace.Unknown, MinorFaults: 29 * 6000}, "", ""},
	} {
		b := measured(same(60), same(0))
		b.Ranks(func(_ int, r *tracetest.Rank) {
			row := &r.Info().Evidence[0]
			if row.Usage, row.IOBytes = c.usage, 0; name == "mapped files" {
				row.IOBytes = 29 * 10 << 20
			}
		})
		inSearch(t, b, func(f *Found) {
			v := f.Verdict(nil, nil, &phases.Findings{})
			if c.says == "" {
				assert.Empty(t, f.causes, name+": "+v.Text)
				return
			}
			require.Equal(t, verdict.Kernel, v.Blames, name+": "+v.Text)
			assert.Contains(t, v.Text, c.says, name)
			assert.InDelta(t, 29*0.015, *v.GainSeconds, 0.005, name)
			assert.Contains(t, strings.Join(v.Causes[0].Advice(verdict.Neighbors{}), " "), c.advises, name)
		})
	}
}

// All ranks but the first, or one of eight, are in the kernel for 40 of the 60 between two
// barriers, in which rank 0 computes. They may wait for it outside MPI: that is said, and no cause.
// If all ranks are, or those have page faults, or rank 0 has system time, too, nothing is said of
// that.
func TestRanksThatYield(t *testing.T) {
	const ms = 29 * tracetest.Unit
	same := func(ns float64) func(int) float64 { return func(int) float64 { return ns } }
	for name, c := range map[string]struct {
		of   func(rank int) trace.Usage
		says string
	}{
		"all others": {func(rank int) trace.Usage { return trace.Usage{SystemNS: int64(min(rank, 1)) * 40 * ms} }, ". Ranks 1-7 spend 1.2 s of the 1.7 s between two calls of MPI_Barrier at v.c:2 in the kernel, neither blocked nor moving data"},
		"one":        {func(rank int) trace.Usage { return trace.Usage{SystemNS: int64(rank/7) * 40 * ms} }, ". Rank 7 spends 1.2 s of the 1.7 s between two calls of MPI_Barrier at v.c:2 in the kernel, neither blocked nor moving data"},
		"all":        {func(int) trace.Usage { return trace.Usage{SystemNS: 40 * ms} }, ""},
		"faults": {func(rank int) trace.Usage {
			return trace.Usage{SystemNS: int64(min(rank, 1)) * 40 * ms, MinorFaults: 29 * 9000}
		}, ""},
		"rank 0, too": {func(rank int) trace.Usage { return trace.Usage{SystemNS: int64(10+30*min(rank, 1)) * ms} }, ""},
	} {
		b := measured(same(60), same(0))
		b.Ranks(func(i int, r *tracetest.Rank) { r.Info().Evidence[0].Usage = c.of(i) })
		inSearch(t, b, func(f *Found) {
			v := f.Verdict(nil, nil, &phases.Findings{})
			if c.says == "" {
				assert.NotContains(t, v.Text, "yielded", name)
				return
			}
			require.Equal(t, verdict.Nobody, v.Blames, name+": "+v.Text)
			assert.Contains(t, v.Text, c.says, name)
		})
	}
}

// A rank that is alone is blocked like all ranks would be, and named.
func TestTheOnlyRankIsBlocked(t *testing.T) {
	b := tracetest.New(1)
	r := b.Rank(0).At("v.c:1").Init(0, 1)
	for k := range 30 {
		r.At("v.c:2").Call("MPI_Barrier", 11+10*float64(k), 11+10*float64(k), nil)
	}
	r.At("v.c:3").Finalize(301, 302)
	barrier := trace.CallSite{Function: mpi.ByName("MPI_Barrier").ID, Site: 2}
	r.Info().Evidence = []trace.EvidenceRow{{EvidenceKey: trace.EvidenceKey{After: barrier, Before: barrier}, Count: 29, WallNS: 290 * tracetest.Unit, CPUNS: 58 * tracetest.Unit}}
	inSearch(t, b, func(f *Found) {
		v := f.Verdict(nil, nil, &phases.Findings{})
		require.Equal(t, verdict.Kernel, v.Blames, v.Text)
		assert.Equal(t, "0", v.Ranks)
		assert.Regexp(t, `: rank 0 is blocked for 23\d ms of the 2\d\d ms that it spends `, v.Text)
		assert.NotContains(t, v.Text, "alike")
	})
}

// Where ranks wait for a CPU in MPI_Init only, as when all of them start at once, there are not too
// few of them: the run computes for 29 times 10 and waits for none.
func TestCrowdedStart(t *testing.T) {
	b := measured(ofOne(0, 10, 10), ofOne(0, 0, 0))
	b.Ranks(func(_ int, r *tracetest.Rank) {
		start := trace.CallSite{Function: mpi.ByName("MPI_Init").ID, Site: 1}
		r.Info().Evidence = append(r.Info().Evidence, trace.EvidenceRow{
			EvidenceKey: trace.EvidenceKey{Before: start}, Count: 1, WallNS: tracetest.Unit, CPUNS: tracetest.Unit / 10, RunDelayNS: tracetest.Unit * 9 / 10,
		})
		r.Info().Context = []trace.ContextSample{{}, {MonotonicNS: 300 * tracetest.Unit, RunDelayNS: tracetest.Unit * 9 / 10}}
	})
	inSearch(t, b, func(f *Found) { assert.InDelta(t, 0, f.evidence.lacks.Average(0).Delayed, 0.01) })
}

// The same where only the whole run is counted: ranks without a CPU for 200 of 400 may have lacked
// it in the 300 in which MPI starts and ends, not in the 600 of a longer run.
func TestCrowdedShortRun(t *testing.T) {
	for iterations, few := range map[int]bool{10: false, 60: true} {
		b := tracetest.New(4)
		run := 302 + 10*float64(iterations)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.At("v.c:1").Init(0, 300)
			now := 300.0
			for range iterations {
				r.At("v.c:2").Collective("MPI_Barrier", now+9, now+10)
				now += 10
			}
			r.At("v.c:3").Finalize(now+1, now+2)
			r.Info().Context = []trace.ContextSample{{}, {
				MonotonicNS: int64(run) * tracetest.Unit, CPUNS: int64(run/2) * tracetest.Unit, RunDelayNS: int64(run/2) * tracetest.Unit, InvoluntarySwitches: 1000,
			}}
		})
		inSearch(t, b, func(f *Found) {
			v := f.Verdict(nil, nil, &phases.Findings{})
			assert.Equal(t, few, v.Blames == verdict.CPUs, "%d: %s", iterations, v.Text)
		})
	}
}

// Time without a CPU is resolved to 20 ms: a gain of 19 is none, however large its fraction of the
// run. Computation is measured exactly, but of 200 ms less than 3% may be chance.
func TestGainsBelowTheResolution(t *testing.T) {
	e := &evidence{Comparison: outliers.New(&accounts.Accounts{End: 100 * tracetest.Unit, Progressed: 100 * tracetest.Unit})}
	for gain, enough := range map[int64]bool{19: false, 20: true} {
		for _, c := range []verdict.Cause{{Kind: verdict.CPUs, Form: verdict.TooFew}, {Kind: verdict.Kernel}, {Kind: verdict.IO, Form: verdict.Blocked}, {Kind: verdict.Excess, Form: verdict.Preempted}} {
			h := Hypothesis{Cause: c, length: (100 - gain) * tracetest.Unit}
			assert.Equal(t, enough, gainsEnough(e, &h, e.Run()), "%+v", c)
		}
		h := Hypothesis{Cause: verdict.Cause{Kind: verdict.Excess, Form: verdict.Always}, length: (100 - gain) * tracetest.Unit}
		assert.True(t, gainsEnough(e, &h, e.Run()))
	}
	e = &evidence{Comparison: outliers.New(&accounts.Accounts{End: 200 * tracetest.Unit, Progressed: 200 * tracetest.Unit})}
	for gain, enough := range map[float64]bool{4.4: false, 6: true} {
		h := Hypothesis{Cause: verdict.Cause{Kind: verdict.Excess, Form: verdict.Always}, length: int64((200 - gain) * tracetest.Unit)}
		assert.Equal(t, enough, gainsEnough(e, &h, e.Run()))
	}
}

// All ranks wait for a CPU for four fifths of their computation, as with more threads than CPUs.
// Rank 5 computes longest, so that it also waits longest, but not while the others have a CPU.
func TestARankThatWaitsInProportion(t *testing.T) {
	inSearch(t, measured(ofOne(5, 50, 10), ofOne(5, 40, 8)), func(f *Found) {
		require.NotEmpty(t, f.causes)
		few := 0
		for i := range f.All {
			assert.NotEqual(t, verdict.Preempted, f.All[i].Cause.Form)
			if f.All[i].Cause.Form == verdict.TooFew {
				few++
			}
		}
		assert.Equal(t, 1, few)
	})
}
