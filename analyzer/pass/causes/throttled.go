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
	all := e.everyone()
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

// throttledLonger returns how much longer, in seconds, the slowest rank of a set was throttled by
// its CPU limit than the mean of the others. It returns 0 if that does not explain most of what it
// spent longer on something, or if it is not known.
func throttledLonger(e *evidence, set, others []outliers.Worker, on func(e *evidence, row int) int64) float64 {
	if e.Window != nil || len(others) == 0 {
		return 0 // it is measured over the whole run
	}
	own, known := accounts.Throttling(&e.Ranks[set[0].Row])
	if !known {
		return 0
	}
	usual, stopped, n := 0.0, 0.0, float64(len(others))
	for _, o := range others {
		usual += accounts.Seconds(on(e, o.Row))
		other, _ := accounts.Throttling(&e.Ranks[o.Row])
		stopped += other
	}
	more, excess := own-stopped/n, accounts.Seconds(on(e, set[0].Row))-usual/n
	if more <= 0 || more < explains*excess {
		return 0
	}
	return more
}

// computing returns how long a rank computes, in ns.
func computing(e *evidence, row int) int64 { return e.Each[e.MainOf[row]].Compute }
