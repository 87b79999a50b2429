package merger

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// The times of calls pass through a merge as they are, block by block: a block does not say which number a signature has,
// only which calls have the same one. Where two signatures of a thread become one, its blocks are written anew.

// localAggregates names the signatures of a thread's aggregates as its shape does.
func localAggregates(aggregates []trace.Aggregate, terminals []int32) []trace.Aggregate {
	if len(aggregates) == 0 {
		return nil
	}
	local := make(map[int32]int32, len(terminals))
	for i, terminal := range terminals {
		local[terminal] = int32(i)
	}
	named := make([]trace.Aggregate, 0, len(aggregates))
	for _, a := range aggregates {
		if i, used := local[a.Terminal]; used {
			a.Terminal = i
			named = append(named, a)
		}
	}
	return named
}

// renameTiming tells the threads of a shape which signatures its terminals have become; aggregates of those that became one
// are added up.
func (e *emission) renameTiming(s *emitted, terminals []int32) {
	distinct := map[int32]bool{}
	for _, terminal := range terminals {
		distinct[terminal] = true
	}
	for _, i := range s.threads {
		t := &e.c.Threads[i]
		t.SignaturesJoined = t.SignaturesJoined || len(distinct) < len(terminals)
		var renamed []trace.Aggregate
		place := map[int32]int{}
		for _, a := range t.Aggregates {
			a.Terminal = terminals[a.Terminal]
			if k, known := place[a.Terminal]; known {
				renamed[k].Gaps.Merge(&a.Gaps)
				renamed[k].Durations.Merge(&a.Durations)
				continue
			}
			place[a.Terminal] = len(renamed)
			renamed = append(renamed, a)
		}
		t.Aggregates = renamed
	}
}

// numberAggregates gives signatures the numbers that they have in the trace.
func (e *emission) numberAggregates(terminals map[int32]int32) {
	for i := range e.c.Threads {
		list := e.c.Threads[i].Aggregates
		for k := range list {
			list[k].Terminal = terminals[list[k].Terminal]
		}
		slices.SortFunc(list, func(a, b trace.Aggregate) int { return cmp.Compare(a.Terminal, b.Terminal) })
	}
}

// digestTiming adds the times of all calls, wherever they are.
func (t *thread) digestTiming(h io.Writer) {
	const atOnce = 4096
	if t.timing == nil {
		for at := 0; at < len(t.gaps); at += atOnce {
			to := min(at+atOnce, len(t.gaps))
			fmt.Fprintf(h, "%d %d ", hashValues(t.gaps[at:to]), hashValues(t.durations[at:to]))
		}
		return
	}
	gaps, durations := make([]int64, atOnce), make([]int64, atOnce)
	from, err := t.timing.OpenTiming()
	for n := atOnce; err == nil && n == atOnce; {
		if n, err = from.ReadTiming(gaps, durations); n > 0 {
			fmt.Fprintf(h, "%d %d ", hashValues(gaps[:n]), hashValues(durations[:n]))
		}
	}
	if err != nil {
		fmt.Fprintf(h, "%v ", err) // found again when the trace is written
	}
}
