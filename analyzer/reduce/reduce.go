package reduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Leads keeps in c only the data of ranks that are their own leads. A thread is represented by its
// lead's thread of the same role (timeline.Roles); threads of a rank whose role its lead does not
// have keep their own calls. If clocks is not nil all ranks get a common clock: it could not be
// found again from messages between ranks if one of them has another rank's times.
func Leads(c *trace.Content, clocks *timeline.Clocks, roles []int, lead func(rank int) int) error {
	if !c.Meta.Final {
		return errors.New("only a finished trace can be reduced: in others, peers are not relative to the rank")
	}
	if len(c.Leads) > 0 {
		return trace.ErrLeads
	}
	threads := c.Threads.List()
	leads := make([]int, len(threads))
	kept := 0
	type part struct{ rank, role int }
	withRole := map[part]int{} // thread
	for i := range threads {
		withRole[part{threads[i].Rank, roles[i]}] = i
	}
	for i := range threads {
		leads[i] = i
		of := lead(threads[i].Rank)
		if lead(of) != of {
			return fmt.Errorf("rank %d is the lead of rank %d, but not its own lead", of, threads[i].Rank)
		}
		if of == threads[i].Rank {
			kept++
			if err := ownTimes(c, &threads[i]); err != nil {
				return err
			}
			continue
		}
		if k, found := withRole[part{of, roles[i]}]; found {
			leads[i] = k
			threads[i].Streams, threads[i].Timing, threads[i].Gaps, threads[i].Durations, threads[i].Aggregates = nil, nil, nil, nil, nil
			threads[i].CallsAtVotes, threads[i].Extrapolations, threads[i].Overheads = nil, nil, nil
			threads[i].FirstTick, threads[i].EndTick, threads[i].InsideTicks = threads[k].FirstTick, threads[k].EndTick, threads[k].InsideTicks
		} else {
			kept++
		}
	}
	ranks := c.Ranks.List()
	onCommonClock(ranks, clocks)
	for i := range ranks {
		k := c.Ranks.Find(lead(ranks[i].Rank))
		if k < 0 || k == i {
			continue
		}
		// its times are on the clock of its lead
		ranks[i].Clock, ranks[i].BootID, ranks[i].Context, ranks[i].End = ranks[k].Clock, ranks[k].BootID, nil, ranks[k].End
		ranks[i].Evidence, ranks[i].Outliers, ranks[i].Threads = nil, nil, nil
	}
	c.Threads, c.Ranks, c.Leads = trace.NewThreadTable(threads...), trace.NewRankTable(ranks...), leads
	dropSequences(c, threads)
	c.Meta.Notes = append(c.Meta.Notes[:len(c.Meta.Notes):len(c.Meta.Notes)],
		fmt.Sprintf("This is a trace of %d threads that represent all %d: the calls of the others are extrapolated from their leads.", kept, len(threads)))
	return nil
}

// onCommonClock moves the clocks of all ranks to the common one, if there are several.
func onCommonClock(ranks []trace.Rank, clocks *timeline.Clocks) {
	if clocks == nil || len(clocks.Domains) < 2 {
		return
	}
	for i := range ranks {
		samples := slices.Clone(ranks[i].Clock.Samples)
		for k := range samples {
			samples[k].MonotonicNS = clocks.Time(i, samples[k].MonotonicNS)
		}
		for k := range ranks[i].Outliers {
			ranks[i].Outliers[k].BeginNS = clocks.Time(i, ranks[i].Outliers[k].BeginNS)
		}
		if len(samples) > 1 { // otherwise ticks are taken for nanoseconds, which does not change
			ranks[i].Clock, ranks[i].BootID = timing.Clock{Kind: "tsc", Samples: samples}, ranks[0].BootID
		}
	}
}

// ownTimes stores the times of a thread whose times are extrapolated from lead ranks, in a run
// whose ranks were clustered while they ran: the times of those leads may be removed.
func ownTimes(c *trace.Content, th *trace.Thread) error {
	if len(th.Extrapolations) == 0 {
		return nil
	}
	cursor, err := c.Cursor(th.Rank, th.Thread)
	if err != nil {
		return err
	}
	gaps, durations := make([]int64, 0, th.Calls), make([]int64, 0, th.Calls)
	for last := th.FirstTick; cursor.Next(); {
		e := cursor.Event()
		gaps, durations = append(gaps, e.EnterTicks-last-e.OverheadTicks), append(durations, e.ExitTicks-e.EnterTicks)
		last = e.ExitTicks
	}
	th.Gaps, th.Durations, th.Timing, th.Extrapolations = gaps, durations, nil, nil
	return cursor.Err()
}

// dropSequences removes the value sequences that no thread has any more.
func dropSequences(c *trace.Content, threads []trace.Thread) {
	numbers := map[int32]int32{}
	var left []codec.Sequence
	for i := range threads {
		streams := append([]trace.StreamRef(nil), threads[i].Streams...)
		for k := range streams {
			n, known := numbers[streams[k].Sequence]
			if !known {
				n = int32(len(left))
				numbers[streams[k].Sequence] = n
				left = append(left, c.Sequences[streams[k].Sequence])
			}
			streams[k].Sequence = n
		}
		threads[i].Streams = streams
	}
	c.Sequences, c.Threads = left, trace.NewThreadTable(threads...)
}

// An Accuracy compares the run according to the whole trace with that according to the leads'
// trace.
type Accuracy struct {
	Whole, Leads Run
	// ACC is 1 − |Whole.Seconds − Leads.Seconds| / Whole.Seconds.
	ACC float64
}

// A Run is the run according to a trace.
type Run struct {
	Seconds     float64 // on the network of Compare
	LoadBalance float64 // mean computation / longest computation
}

// Enough is the minimum ACC, and 1 minus the maximum difference of load balances, of leads that
// represent a run.
const Enough = 0.95

// Enough reports whether the leads represent the run.
func (a Accuracy) Enough() bool {
	return a.ACC >= Enough && math.Abs(a.Whole.LoadBalance-a.Leads.LoadBalance) <= 1-Enough
}

// Compare replays both traces on a network of its own, the whole one by its clocks, that of the
// leads by its messages, since ranks that it lacks may have had other clocks. On the measured
// network there is nothing to compare: the leads' calls would last as long as they did, whatever
// they waited for.
func Compare(ctx context.Context, whole timeline.Trace, clocks *timeline.Clocks, leads timeline.Trace, n predict.Network) (Accuracy, error) {
	found, err := clock.Analyze(ctx, leads)
	if err != nil {
		return Accuracy{}, err
	}
	var a Accuracy
	for _, run := range []struct {
		trace  timeline.Trace
		clocks *timeline.Clocks
		says   *Run
	}{{whole, clocks, &a.Whole}, {leads, found.Clocks, &a.Leads}} {
		lengths, err := predict.Play(ctx, run.trace, run.clocks, []predict.Scenario{{Network: &n}})
		if err != nil {
			return a, err
		}
		*run.says = Run{Seconds: float64(lengths[0]) / 1e9, LoadBalance: loadBalance(run.trace)}
	}
	if a.Whole.Seconds > 0 {
		a.ACC = 1 - math.Abs(a.Whole.Seconds-a.Leads.Seconds)/a.Whole.Seconds
	}
	return a, nil
}

func loadBalance(t timeline.Trace) float64 {
	sum, most, n := 0.0, 0.0, 0
	for _, c := range clusters.Computation(t) {
		sum, most, n = sum+c, max(most, c), n+1
	}
	if most == 0 {
		return 1
	}
	return sum / float64(n) / most
}
