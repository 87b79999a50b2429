package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// cpuLimits is CPU limits that throttle all containers, or too many to be an exception.
type cpuLimits struct{}

// suggest assumes that no container is throttled by its CPU limit. It is not known when they were
// throttled, so computations that take longer than usual get their usual duration.
func (cpuLimits) suggest(e *evidence) []Hypothesis {
	if !e.cpus.AreLimited() || e.HasEvidence() || mostThrottled(e) != nil {
		return nil
	}
	usual := map[predict.Region]float64{}
	for what := range e.Total {
		if what.Computes() {
			usual[regionOf(what)] = e.usual(what)
		}
	}
	limited := throttledMost(e)
	if limited != nil && e.lacks.AreCounted() && e.AreFew(&outliers.Suspicion{Set: limited}) {
		return nil // fewCPUs knows what these ranks lose
	}
	h := Hypothesis{width: ofCPUs, Cause: limitsOf(e, limited), estimated: int64(e.cpus.Stopped * float64(e.Run()))}
	var only map[int]bool // locations; nil: all
	if limited != nil {
		only = locationsOf(e, outliers.RowsOf(limited))
	}
	h.change = change{takes: func(location int, r predict.Region, ns int64) int64 {
		if u := usual[r]; (only == nil || only[location]) && u > 0 && float64(ns) > longer*u {
			return int64(u)
		}
		return ns
	}}
	h.What, h.Assumes = "no CPU limit stopped a container", "Computations that take longer than usual take as long as they usually do; calls keep their own cost, waiting follows."
	return []Hypothesis{h}
}

// limitsOf returns the cause that CPU limits throttle a set of ranks; nil: all ranks alike.
func limitsOf(e *evidence, set []outliers.Worker) verdict.Cause {
	if set == nil {
		return ofAllRanks(e, verdict.CPUs, verdict.Limits, accounts.Activity{})
	}
	c := e.causeOf(verdict.CPUs, set, accounts.Activity{})
	c.Form = verdict.Limits
	return c
}

// throttledMost returns the ranks that are throttled at least half as long as the one that is
// throttled longest, nil if these are all ranks, or if that is not known.
func throttledMost(e *evidence) (set []outliers.Worker) {
	var all []outliers.Worker
	most := 0.0
	for row, i := range e.MainOf {
		if i < 0 {
			continue
		}
		seconds, known := accounts.Throttling(&e.Ranks[row])
		if !known {
			return nil
		}
		all, most = append(all, outliers.Worker{Row: row, Useful: seconds}), max(most, seconds)
	}
	for _, w := range all {
		if 2*w.Useful >= most {
			set = append(set, w)
		}
	}
	if len(set) == len(all) {
		return nil
	}
	return set
}
