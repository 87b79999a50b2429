package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/predict"
)

// A change is how a hypothesis modifies the run. Changes can be combined.
type change struct {
	takes    func(location int, r predict.Region, ns int64) int64 // nil: unchanged
	keeps    func(function uint16, site uint32) float64           // of the own cost of calls; nil: all
	ignores  func(function uint16, site uint32) bool              // nil: no call
	buffered bool
	ideal    bool // calls take only the time that they wait for others
}

// together returns the scenario with all changes. If several of them change a computation, they are
// applied in order; each takes its part of the cost of a call.
func together(changes ...change) predict.Scenario {
	var s predict.Scenario
	var takes []func(int, predict.Region, int64) int64
	var keeps []func(uint16, uint32) float64
	var ignores []func(uint16, uint32) bool
	for _, c := range changes {
		if c.takes != nil {
			takes = append(takes, c.takes)
		}
		if c.keeps != nil {
			keeps = append(keeps, c.keeps)
		}
		if c.ignores != nil {
			ignores = append(ignores, c.ignores)
		}
		s.Buffered = s.Buffered || c.buffered
		if c.ideal {
			s.Network = &predict.Network{}
		}
	}
	if len(takes) > 0 {
		s.Takes = func(location int, r predict.Region, ns int64) int64 {
			for _, f := range takes {
				ns = f(location, r, ns)
			}
			return ns
		}
	}
	if len(keeps) > 0 {
		s.Keeps = func(function uint16, site uint32) float64 {
			left := 1.0
			for _, f := range keeps {
				left -= 1 - f(function, site)
			}
			return max(0, left)
		}
	}
	s.Ignores = anyOf(ignores)
	return s
}

func anyOf(predicates []func(uint16, uint32) bool) func(uint16, uint32) bool {
	if len(predicates) < 2 {
		if len(predicates) == 0 {
			return nil
		}
		return predicates[0]
	}
	return func(function uint16, site uint32) bool {
		for _, f := range predicates {
			if f(function, site) {
				return true
			}
		}
		return false
	}
}

// regionOf converts an activity of the accounts to a region of the replay.
func regionOf(what accounts.Activity) predict.Region {
	return predict.Region{After: what.Function, Before: what.Next, AfterSite: what.Site, BeforeSite: what.NextSite}
}

// activityOf converts a region of the replay to an activity of the accounts.
func activityOf(r predict.Region) accounts.Activity {
	return accounts.Activity{Function: r.After, Next: r.Before, Site: r.AfterSite, NextSite: r.BeforeSite}
}

// scaled multiplies the computations of locations by factors: those of one region, or all if region
// is nil.
func scaled(factors map[int]float64, region *accounts.Activity) change {
	var only predict.Region
	if region != nil {
		only = regionOf(*region)
	}
	last := -1
	for location := range factors {
		last = max(last, location)
	}
	scales, dense := make([]bool, last+1), make([]float64, last+1)
	for location, f := range factors {
		scales[location], dense[location] = true, f
	}
	return change{takes: func(location int, r predict.Region, ns int64) int64 {
		if location > last || !scales[location] || region != nil && only != r {
			return ns
		}
		return int64(dense[location] * float64(ns))
	}}
}
