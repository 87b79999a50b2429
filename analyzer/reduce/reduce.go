package reduce

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/replay"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Leads keeps in c only what the ranks have for which lead gives themselves. Threads of a rank beyond those of its lead
// keep their own calls.
func Leads(c *trace.Content, lead func(rank int) int) error {
	if !c.Meta.Final {
		return errors.New("only a finished trace can be reduced: in others, peers are not relative to the rank")
	}
	if len(c.Leads) > 0 {
		return trace.ErrLeads
	}
	threads := c.Threads.List()
	leads := make([]int, len(threads))
	kept := 0
	for i := range threads {
		leads[i] = i
		of := lead(threads[i].Rank)
		if lead(of) != of {
			return fmt.Errorf("rank %d, which stands for rank %d, has a lead of its own", of, threads[i].Rank)
		}
		if of == threads[i].Rank {
			kept++
			if err := ownTimes(c, &threads[i]); err != nil {
				return err
			}
			continue
		}
		if k := c.Threads.Find(of, threads[i].Thread); k >= 0 {
			leads[i] = k
			threads[i].Streams, threads[i].Timing, threads[i].Gaps, threads[i].Durations, threads[i].Aggregates = nil, nil, nil, nil, nil
			threads[i].Marks, threads[i].StandIns, threads[i].Holds = nil, nil, nil
			threads[i].FirstTick, threads[i].EndTick, threads[i].InsideTicks = threads[k].FirstTick, threads[k].EndTick, threads[k].InsideTicks
		} else {
			kept++
		}
	}
	ranks := c.Ranks.List()
	for i := range ranks {
		k := c.Ranks.Find(lead(ranks[i].Rank))
		if k < 0 || k == i {
			continue
		}
		// its times are those of its lead's clock
		ranks[i].Clock, ranks[i].BootID, ranks[i].Context = ranks[k].Clock, ranks[k].BootID, nil
	}
	c.Threads, c.Ranks, c.Leads = trace.NewThreadTable(threads...), trace.NewRankTable(ranks...), leads
	dropSequences(c, threads)
	c.Meta.Notes = append(c.Meta.Notes[:len(c.Meta.Notes):len(c.Meta.Notes)],
		fmt.Sprintf("This is a trace of %d threads that stand for all %d: the others' calls are those of their leads.", kept, len(threads)))
	return nil
}

// ownTimes writes out the times of a thread that other ranks stand in for, of a run whose ranks were clustered while they
// ran: those ranks' times may not be kept.
func ownTimes(c *trace.Content, th *trace.Thread) error {
	if len(th.StandIns) == 0 {
		return nil
	}
	cursor, err := c.Cursor(th.Rank, th.Thread)
	if err != nil {
		return err
	}
	gaps, durations := make([]int64, 0, th.Calls), make([]int64, 0, th.Calls)
	for last := th.FirstTick; cursor.Next(); {
		e := cursor.Event()
		gaps, durations = append(gaps, e.EnterTicks-last-e.HeldTicks), append(durations, e.ExitTicks-e.EnterTicks)
		last = e.ExitTicks
	}
	th.Gaps, th.Durations, th.Timing, th.StandIns = gaps, durations, nil, nil
	return cursor.Err()
}

// dropSequences leaves out the value sequences that no thread has any more.
func dropSequences(c *trace.Content, threads []trace.Thread) {
	numbers := map[int32]int32{}
	var left [][]int64
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

// An Accuracy compares the run time that the replay of two traces gives.
type Accuracy struct {
	Whole, Leads float64 // seconds
	ACC          float64 // 1 − |Whole − Leads| / Whole
}

// Compare plays both traces, as measured and on a network of its own: the whole one by its clocks, that of the leads by
// what its messages say, since ranks that it lacks may have had other clocks.
func Compare(ctx context.Context, whole timeline.Trace, clocks *timeline.Clocks, leads timeline.Trace, n replay.Network) (measured, modelled Accuracy, err error) {
	found, err := clock.Analyze(ctx, leads)
	if err != nil {
		return measured, modelled, err
	}
	var lengths [2][]int64
	for i, run := range []struct {
		trace  timeline.Trace
		clocks *timeline.Clocks
	}{{whole, clocks}, {leads, found.Clocks}} {
		if lengths[i], err = replay.Play(ctx, run.trace, run.clocks, []replay.Scenario{{}, {Network: &n}}); err != nil {
			return measured, modelled, err
		}
	}
	return accuracy(lengths[0][0], lengths[1][0]), accuracy(lengths[0][1], lengths[1][1]), nil
}

func accuracy(whole, leads int64) Accuracy {
	a := Accuracy{Whole: float64(whole) / 1e9, Leads: float64(leads) / 1e9}
	if whole > 0 {
		a.ACC = 1 - math.Abs(a.Whole-a.Leads)/a.Whole
	}
	return a
}
