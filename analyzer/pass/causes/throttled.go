package causes

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
)

// throttledRanks is ranks that a CPU limit stops much longer than the others.
type throttledRanks struct{}

func (throttledRanks) suggest(e *evidence) []Hypothesis {
	if s := mostThrottled(e); s != nil {
		return []Hypothesis{excessOf(e, s, nil)}
	}
	return nil
}

// mostThrottled returns ranks whose containers were throttled much longer by their CPU limits than
// those of the others.
func mostThrottled(e *evidence) *outliers.Suspicion {
	if e.Window != nil {
		return nil
	}
	all := e.Workers(outliers.Spent, nil)
	mean := outliers.MeanUseful(all)
	byPauses := slices.Clone(all)
	for i, w := range byPauses {
		seconds, known := accounts.Throttling(&e.Ranks[w.Row])
		if !known {
			return nil
		}
		byPauses[i] = outliers.Worker{Row: w.Row, Useful: mean + seconds}
	}
	set, _ := e.Outliers(byPauses, outliers.Doubtful, outliers.MinRatio)
	if set == nil || !e.AreFew(&outliers.Suspicion{Set: set}) {
		return nil
	}
	return &outliers.Suspicion{Workers: all, Set: set, Mean: mean}
}
