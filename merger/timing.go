package merger

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A merge copies the blocks of the times of calls: a block does not depend on the numbers of
// signatures, only on which calls have equal ones. If two signatures of a thread become one, its
// blocks are rewritten.

// localAggregates renumbers the signatures of a thread's aggregates as terminals of its shape.
func localAggregates(aggregates []timing.Aggregate, terminals []int32) []timing.Aggregate {
	if len(aggregates) == 0 {
		return nil
	}
	local := make(map[int32]int32, len(terminals))
	for i, terminal := range terminals {
		local[terminal] = int32(i)
	}
	named := make([]timing.Aggregate, 0, len(aggregates))
	for _, a := range aggregates {
		if i, used := local[a.Terminal]; used {
			a.Terminal = i
			named = append(named, a)
		}
	}
	return named
}

// renamed renumbers the aggregates of a thread, and adds up those of signatures that became one.
func renamed(aggregates []timing.Aggregate, number func(terminal int32) int32) []timing.Aggregate {
	var list []timing.Aggregate
	place := map[int32]int{}
	for _, a := range aggregates {
		a.Terminal = number(a.Terminal)
		if k, known := place[a.Terminal]; known {
			list[k].Gaps.Merge(&a.Gaps)
			list[k].Durations.Merge(&a.Durations)
			continue
		}
		place[a.Terminal] = len(list)
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b timing.Aggregate) int { return cmp.Compare(a.Terminal, b.Terminal) })
	return list
}

// digestTiming adds the times of all calls of a thread.
func digestTiming(h io.Writer, t *trace.Thread) {
	const atOnce = 4096
	if t.Timing == nil {
		for at := 0; at < len(t.Gaps); at += atOnce {
			to := min(at+atOnce, len(t.Gaps))
			fmt.Fprintf(h, "%d %d ", hashValues(t.Gaps[at:to]), hashValues(t.Durations[at:to]))
		}
		return
	}
	gaps, durations := make([]int64, atOnce), make([]int64, atOnce)
	from, err := t.Timing.OpenTiming()
	for n := atOnce; err == nil && n == atOnce; {
		if n, err = from.ReadTiming(gaps, durations); n > 0 {
			fmt.Fprintf(h, "%d %d ", hashValues(gaps[:n]), hashValues(durations[:n]))
		}
	}
	if err != nil {
		fmt.Fprintf(h, "%v ", err) // the error is reported when the trace is written
	}
}
