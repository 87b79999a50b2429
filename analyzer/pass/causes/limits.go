package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// cpuLimits is CPU limits that throttle all containers alike.
type cpuLimits struct{}

// suggest assumes that no container is throttled by its CPU limit, when all containers are alike.
// It is not known when they were throttled, so computations that take longer than usual get their
// usual duration.
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
	h := Hypothesis{width: ofCPUs, Cause: ofAllRanks(e, verdict.CPUs, verdict.Limits, accounts.Activity{}), estimated: int64(e.cpus.Stopped * float64(e.Run()))}
	h.change = change{takes: func(_ int, r predict.Region, ns int64) int64 {
		if u := usual[r]; u > 0 && float64(ns) > longer*u {
			return int64(u)
		}
		return ns
	}}
	h.What, h.Assumes = "no CPU limit stopped a container", "Computations that take longer than usual take as long as they usually do; calls keep their own cost, waiting follows."
	return []Hypothesis{h}
}
