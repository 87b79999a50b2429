package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// A Run is Count ranks: Start, Start+Stride, …
type Run struct {
	Start, Count, Stride int
}

// A RankList is a sequence of ranks as runs, in order. It is canonical when made by NewRankList.
type RankList []Run

// NewRankList writes ranks, in the order given, as the fewest runs that a left-to-right scan finds.
func NewRankList(ranks []int) RankList {
	var list RankList
	for i := 0; i < len(ranks); {
		run := Run{Start: ranks[i], Count: 1, Stride: 1}
		if i+1 < len(ranks) {
			stride := ranks[i+1] - ranks[i]
			n := 2
			for i+n < len(ranks) && ranks[i+n]-ranks[i+n-1] == stride {
				n++
			}
			// a pair that is no neighbourhood may be the start of a better run one further on
			if n > 2 || stride == 1 {
				run = Run{ranks[i], n, stride}
			}
		}
		list = append(list, run)
		i += run.Count
	}
	return list
}

// Len is the number of ranks.
func (l RankList) Len() int {
	n := 0
	for _, r := range l {
		n += r.Count
	}
	return n
}

// At returns the i-th rank; it panics when i is out of range.
func (l RankList) At(i int) int {
	for _, r := range l {
		if i < r.Count {
			return r.Start + i*r.Stride
		}
		i -= r.Count
	}
	panic("trace: rank list index out of range")
}

// Index returns the position of rank, −1 if it is not in the list.
func (l RankList) Index(rank int) int {
	base := 0
	for _, r := range l {
		d := rank - r.Start
		if r.Stride == 0 {
			if d == 0 {
				return base
			}
		} else if d%r.Stride == 0 {
			if k := d / r.Stride; k >= 0 && k < r.Count {
				return base + k
			}
		}
		base += r.Count
	}
	return -1
}

// Ranks expands the list.
func (l RankList) Ranks() []int {
	ranks := make([]int, 0, l.Len())
	for _, r := range l {
		for k := range r.Count {
			ranks = append(ranks, r.Start+k*r.Stride)
		}
	}
	return ranks
}

// String gives "0-3,8,10-20:2"; the part after the colon is the stride.
func (l RankList) String() string {
	parts := make([]string, 0, len(l))
	for _, r := range l {
		last := r.Start + (r.Count-1)*r.Stride
		switch {
		case r.Count == 1:
			parts = append(parts, fmt.Sprint(r.Start))
		case r.Stride == 1:
			parts = append(parts, fmt.Sprintf("%d-%d", r.Start, last))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d:%d", r.Start, last, r.Stride))
		}
	}
	return strings.Join(parts, ",")
}

// ParseRankList reads what String gives; "" is an empty list.
func ParseRankList(text string) (RankList, error) {
	var list RankList
	if text == "" {
		return list, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		var first, last, stride int
		var err error
		span, step, strided := strings.Cut(part, ":")
		from, to, isRange := strings.Cut(span, "-")
		first, err = strconv.Atoi(from)
		if last = first; err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if stride = 1; err == nil && strided {
			stride, err = strconv.Atoi(step)
		}
		if err != nil || first < 0 || last < first || stride < 1 {
			return nil, fmt.Errorf("ranks %q: %q is none of a rank, a range like 0-7, and one with a stride like 0-14:2", text, part)
		}
		list = append(list, Run{Start: first, Count: (last-first)/stride + 1, Stride: stride})
	}
	return list, nil
}
