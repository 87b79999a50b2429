package causes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// lateStart is ranks that come late to MPI_Init.
type lateStart struct{}

// suggest assumes that ranks that enter MPI_Init long after the others enter it with them.
func (lateStart) suggest(e *evidence) []Hypothesis {
	var starts []outliers.Worker
	for row, i := range e.MainOf {
		if i >= 0 && !e.Extents[i].Empty && e.Extents[i].Initialized {
			starts = append(starts, outliers.Worker{Row: row, Useful: float64(e.Extents[i].Start - e.Start)})
		}
	}
	if len(starts) < 2 {
		return nil
	}
	slices.SortFunc(starts, func(x, y outliers.Worker) int {
		return cmp.Or(cmp.Compare(y.Useful, x.Useful), cmp.Compare(x.Row, y.Row))
	})
	for g := 1; g <= max(1, int(outliers.FewRanks*float64(len(starts)))); g++ {
		last, others := starts[g-1].Useful, starts[g].Useful
		if last-others >= launchJitter && e.Share(int64(last-others)) >= leastGainOf(verdict.StartEnd, verdict.NoForm) && last >= latestStart*max(others, 1) {
			h := Hypothesis{width: oneRegion, Cause: e.causeOf(verdict.StartEnd, starts[:g], accounts.Activity{}), estimated: int64(starts[0].Useful - others)}
			h.Cause.Form, h.Cause.EachSeconds = verdict.Start, (starts[0].Useful-others)/1e9
			h.What = fmt.Sprintf("%s came to MPI_Init with the others", h.Cause.Who())
			h.Assumes = "An estimate: all wait in MPI_Init until the last one is there."
			return []Hypothesis{h}
		}
	}
	return nil
}
