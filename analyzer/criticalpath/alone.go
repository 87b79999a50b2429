package criticalpath

import (
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Work that one rank has alone while others wait for it: a serial part, or a master's. It is told from a rank that merely
// comes along other calls, as at the edge of a grid: that computes no more than the others in all.
const (
	serialShare = 0.1  // of a rank's time in a region: others who have less do not work there
	likeSerial  = 0.7  // of the region's time that the rank computes beyond the others altogether
	ownRegions  = 0.8  // of a rank's computation, where nobody else computes: a master's
	minSerial   = 0.05 // of the run
)

// aloneness is what ranks compute alone.
type aloneness struct {
	ranks map[int]*soloist // by row
}

// A soloist is a rank with regions of its own.
type soloist struct {
	row     int
	own     map[activity]int64 // regions in which nobody else computes
	ns      int64              // in all of them
	longest activity
	serial  bool // it computes longer than the others by what it has alone
	master  bool // it has hardly anything else
}

func (s *aloneness) isMaster(row int) bool { return s.ranks[row] != nil && s.ranks[row].master }

// isSerial reports whether a region is a rank's alone.
func (s *aloneness) isSerial(row int, what activity) bool {
	o := s.ranks[row]
	return o != nil && o.serial && o.own[what] > 0
}

// A call before or after a computation.
type side struct {
	function uint16
	site     uint32
	after    bool
}

func sides(what activity) [2]side {
	return [2]side{{what.function, what.site, true}, {what.next, what.nextSite, false}}
}

// busiest are the two ranks that compute longest beside a call.
type busiest struct {
	row          int
	most, second int64
}

func (b *busiest) add(row int, ns int64) {
	switch {
	case ns > b.most:
		b.row, b.most, b.second = row, ns, b.most
	case ns > b.second:
		b.second = ns
	}
}

// exceptOf is the longest of the others.
func (b *busiest) exceptOf(row int) int64 {
	if b.row == row {
		return b.second
	}
	return b.most
}

// aloneness finds who computes alone, of the ranks that ran to their end: after another has died, who is left is alone.
func (a *search) aloneness() *aloneness {
	if a.solo != nil {
		return a.solo
	}
	a.solo = &aloneness{ranks: map[int]*soloist{}}
	beside := map[side]*busiest{}
	total, n := int64(0), int64(0)
	for row, i := range a.mainOf {
		if i < 0 || a.extents[i].empty {
			continue
		}
		if a.ranks[row].EndedEarly == "" {
			total += a.each[i].compute
			n++
		}
		longest := map[side]int64{}
		for what, t := range a.each[i].tallies {
			if what.computes() {
				for _, s := range sides(what) {
					longest[s] = max(longest[s], t.ns)
				}
			}
		}
		for s, ns := range longest {
			if beside[s] == nil {
				beside[s] = &busiest{row: -1}
			}
			beside[s].add(row, ns)
		}
	}
	if n < 2 {
		return a.solo
	}
	for row, i := range a.mainOf {
		if i < 0 || a.ranks[row].EndedEarly != "" {
			continue
		}
		o := &soloist{row: row, own: map[activity]int64{}}
		for _, what := range a.each[i].activities() {
			t := a.each[i].tallies[what]
			if !what.computes() || a.share(t.ns) < minPromise {
				continue
			}
			others := int64(0)
			for _, s := range sides(what) {
				others = max(others, beside[s].exceptOf(row))
			}
			if float64(others) < serialShare*float64(t.ns) {
				o.own[what] = t.ns
				o.ns += t.ns
				if t.ns > o.own[o.longest] {
					o.longest = what
				}
			}
		}
		own := a.each[i].compute
		others := float64(total-own) / float64(n-1)
		o.serial = float64(own)-others >= likeSerial*float64(o.ns)
		o.master = n > 2 && float64(o.ns) >= ownRegions*float64(own)
		if a.share(o.ns) >= minSerial && (o.serial || o.master) {
			a.solo.ranks[row] = o
		}
	}
	return a.solo
}

// serialHypothesis is that all ranks have a part of what one computes alone.
func (a *search) serialHypothesis() *hypothesis {
	var most *soloist
	for row := range a.ranks {
		if o := a.aloneness().ranks[row]; o != nil && (most == nil || o.ns > most.ns) {
			most = o
		}
	}
	if most == nil {
		return nil
	}
	h := hypothesis{width: oneRegion, cause: a.causeOf(verdict.Serialization, []worker{{row: most.row}}, most.longest)}
	h.cause.Form = verdict.Master
	a.compareEach(&h.cause, worker{row: most.row}, nil, most.longest)
	n, own := float64(len(a.ranks)), a.mainOf[most.row]
	h.change = change{takes: func(location int, r predict.Region, ns int64) int64 {
		if location == own && most.own[activityOf(r)] > 0 {
			return int64(float64(ns) / n)
		}
		return ns
	}}
	h.what = "all ranks had a part of what " + h.cause.Who() + " computes alone, most of it " + verdict.Between(h.cause.After, h.cause.Before)
	h.assumes = "The work is divided by the number of ranks, which costs nothing; calls keep their own cost, waiting follows."
	return &h
}
