package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// causesOf returns the causes of the verdict on the run with the median time.
func causesOf(side []*run) []verdict.Cause {
	byTime := slices.SortedFunc(slices.Values(side), func(x, y *run) int { return cmp.Compare(x.seconds, y.seconds) })
	return append([]verdict.Cause{}, byTime[(len(byTime)-1)/2].causes...)
}

// verdicts reports causes of the verdict on the slower side that the other one lacks, if they
// explain much of the difference. The reports on these runs have the same causes.
func (f *Findings) verdicts() string {
	slower, own, another := "B", f.B.Causes, f.A.Causes
	if f.Difference < 0 {
		slower, own, another = "A", f.A.Causes, f.B.Causes
	}
	for i := range own {
		c := &own[i]
		known := slices.ContainsFunc(another, func(o verdict.Cause) bool { return o.Kind == c.Kind && o.Ranks == c.Ranks })
		if !known && c.GainSeconds != nil && *c.GainSeconds >= much*math.Abs(f.Difference) {
			return fmt.Sprintf(" By the verdicts on both, only %s loses time to %s (%s).", slower, c.Short(), wording.Duration(*c.GainSeconds))
		}
	}
	return ""
}
