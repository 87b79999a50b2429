package causes

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/internal/recent"
)

// Equal work: the computation of every rank if the work were divided equally.
//
// In a region that all ranks execute equally often, each rank gets the mean. The other regions are
// treated as one, because ranks that make other calls, as at the edge of a grid, do the same work
// in other regions: each rank gets the mean of the time that all spend in these regions. Work that
// a rank does alone while others wait for it (alone.go), and all work of a master, stays where it
// is.

// divideEvenly returns the changes that divide work equally in total, and in each iteration.
func divideEvenly(e *evidence) (inTotal, eachTime change) {
	d := newEvenness(e)
	shares, latest := d.shares, recent.Cache[accounts.Activity, portion]{}
	// a cache: all scenarios ask for the same region in turn, and a location for few regions
	type answer struct {
		region predict.Region
		share  *portion
		own    *accounts.Tally
		is     bool
	}
	asked := make([][16]answer, len(e.Each))
	of := func(location int, r predict.Region) (*portion, *accounts.Tally) {
		what := activityOf(r)
		hash := what.Hash()
		before := &asked[location][hash*0x9e3779b1>>28]
		if !before.is || before.region != r {
			*before = answer{region: r, is: true}
			if s := latest.At(shares, what, hash); s.divided && d.takesPart[location] {
				if t := e.Each[location].Tallies[what]; t != nil && t.Ns > 0 && t.Count > 0 {
					before.share, before.own = s, t
				}
			}
		}
		return before.share, before.own
	}
	inTotal.takes = func(location int, r predict.Region, ns int64) int64 {
		s, own := of(location, r)
		switch {
		case s == nil:
			return ns
		case s.together:
			return int64(math.Round(float64(ns) * d.total[location]))
		}
		return int64(math.Round(float64(ns) * s.mean / float64(own.Ns)))
	}
	eachTime.takes = func(location int, r predict.Region, ns int64) int64 {
		s, own := of(location, r)
		switch {
		case s == nil:
			return ns
		case s.together:
			return int64(math.Round(s.each * d.each[location]))
		}
		return int64(math.Round(s.mean / float64(own.Count)))
	}
	return inTotal, eachTime
}

// A portion is the share of each rank in a region.
type portion struct {
	divided  bool    // otherwise the region is unchanged
	together bool    // treated as one with other regions
	mean     float64 // ns per rank, if not together
	each     float64 // ns per instance, if together
}

type evenness struct {
	takesPart []bool // by location
	shares    map[accounts.Activity]*portion
	// by location, for regions that are together: the factor that turns a rank's total into the
	// mean, for its actual times and for the average time per instance
	total, each []float64
}

func newEvenness(e *evidence) *evenness {
	n := len(e.Each)
	d := &evenness{takesPart: make([]bool, n), shares: map[accounts.Activity]*portion{}, total: slices.Repeat([]float64{1}, n), each: slices.Repeat([]float64{1}, n)}
	ranks := 0
	alone := e.alone()
	for row, i := range e.MainOf {
		if i >= 0 && e.Ranks[row].EndedEarly == "" && e.Each[i].Compute > 0 && !alone.IsMaster(row) {
			d.takesPart[i] = true
			ranks++
		}
	}
	for what := range e.Total {
		if !what.Computes() {
			continue
		}
		sum, instances, n, least, most := 0.0, 0.0, 0, uint64(math.MaxUint64), uint64(0)
		serial := false
		for row, i := range e.MainOf {
			if i < 0 || !d.takesPart[i] {
				continue
			}
			if t := e.Each[i].Tallies[what]; t != nil && t.Count > 0 {
				sum, instances, n = sum+float64(t.Ns), instances+float64(t.Count), n+1
				least, most = min(least, t.Count), max(most, t.Count)
				serial = serial || alone.IsSerial(row, what)
			}
		}
		if serial || n == 0 {
			continue
		}
		s := &portion{divided: true, mean: sum / float64(n), each: sum / instances}
		s.together = n < ranks || float64(most) > equallyOften*float64(least)
		d.shares[what] = s
	}
	takeTogether(e, d, ranks)
	return d
}

// takeTogether computes the factors of the regions that are treated as one.
func takeTogether(e *evidence, d *evenness, ranks int) {
	own, usual := make([]float64, len(e.Each)), make([]float64, len(e.Each))
	sum := 0.0
	for i := range e.Each {
		if !d.takesPart[i] {
			continue
		}
		for _, what := range e.Each[i].Activities() {
			if s := d.shares[what]; s != nil && s.together {
				t := e.Each[i].Tallies[what]
				own[i] += float64(t.Ns)
				usual[i] += float64(t.Count) * s.each
			}
		}
		sum += own[i]
	}
	mean := sum / float64(max(1, ranks))
	for i := range own {
		if own[i] > 0 {
			d.total[i] = mean / own[i]
		}
		if usual[i] > 0 {
			d.each[i] = mean / usual[i]
		}
	}
}
