package merger

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The times of calls pass through a merge as they are, block by block: a block does not say which number a signature has,
// only which calls have the same one. Where two signatures of a thread become one, its blocks are written anew.

// localAggregates names the signatures of a thread's aggregates as its shape does.
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

// renamed gives the aggregates of a thread of the shape the signatures of the trace; those of signatures that became one
// are added up.
func (s *exported) renamed(aggregates []timing.Aggregate) []timing.Aggregate {
	var list []timing.Aggregate
	place := map[int32]int{}
	for _, a := range aggregates {
		a.Terminal = s.terminals[a.Terminal]
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

// digestTiming adds the times of all calls of a thread, wherever they are.
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
		fmt.Fprintf(h, "%v ", err) // found again when the trace is written
	}
}
