package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// aloneRank is a rank that works alone while others wait for it: a serial part, or a master's. A
// rank that merely passes other calls, as at the edge of a grid, is different: its total
// computation is no longer than that of the others.
type aloneRank struct{}

// Aloneness is the computation that ranks do alone.
type Aloneness struct {
	ranks map[int]*soloist // by row
}

// A soloist is a rank with regions in which no other rank computes.
type soloist struct {
	row     int
	own     map[accounts.Activity]int64 // its regions
	ns      int64                       // total time in them
	longest accounts.Activity
	serial  bool // it computes longer than the others by its own regions
	master  bool // its own regions are nearly all of its computation
}

// IsMaster reports whether nearly all of a rank's computation is work that it does alone.
func (s *Aloneness) IsMaster(row int) bool { return s.ranks[row] != nil && s.ranks[row].master }

// IsSerial reports whether a region is serial work of a rank.
func (s *Aloneness) IsSerial(row int, what accounts.Activity) bool {
	o := s.ranks[row]
	return o != nil && o.serial && o.own[what] > 0
}

// A side is a call before or after a computation.
type side struct {
	function uint16
	site     uint32
	after    bool
}

func sides(what accounts.Activity) [2]side {
	return [2]side{{what.Function, what.Site, true}, {what.Next, what.NextSite, false}}
}

// busiest is the two longest computations of ranks next to a call.
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

// exceptOf returns the longest one of a rank other than row.
func (b *busiest) exceptOf(row int) int64 {
	if b.row == row {
		return b.second
	}
	return b.most
}

// findAlone finds ranks that compute alone, among those that ran to their end: after other ranks
// have died, the remaining ones are alone anyway.
func findAlone(e *evidence) *Aloneness {
	found := &Aloneness{ranks: map[int]*soloist{}}
	beside := map[side]*busiest{}
	total, n := int64(0), int64(0)
	for row, i := range e.MainOf {
		if i < 0 || e.Extents[i].Empty {
			continue
		}
		if e.Ranks[row].EndedEarly == "" {
			total += e.Each[i].Compute
			n++
		}
		longest := map[side]int64{}
		for what, t := range e.Each[i].Tallies {
			if what.Computes() {
				for _, s := range sides(what) {
					longest[s] = max(longest[s], t.Ns)
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
		return found
	}
	for row, i := range e.MainOf {
		if i < 0 || e.Ranks[row].EndedEarly != "" {
			continue
		}
		o := &soloist{row: row, own: map[accounts.Activity]int64{}}
		for _, what := range e.Each[i].Activities() {
			t := e.Each[i].Tallies[what]
			if !what.Computes() || e.Share(t.Ns) < MinPromise {
				continue
			}
			others := int64(0)
			for _, s := range sides(what) {
				others = max(others, beside[s].exceptOf(row))
			}
			if twin, ok := twin(e, row, what); ok {
				others = max(others, mostIn(e, twin))
			}
			if float64(others) < serialShare*float64(t.Ns) {
				o.own[what] = t.Ns
				o.ns += t.Ns
				if t.Ns > o.own[o.longest] {
					o.longest = what
				}
			}
		}
		own := e.Each[i].Compute
		others := float64(total-own) / float64(n-1)
		o.serial = float64(own)-others >= likeSerial*float64(o.ns)
		o.master = n > 2 && float64(o.ns) >= ownRegions*float64(own)
		if e.Share(o.ns) >= minSerial && (o.serial || o.master) {
			found.ranks[row] = o
		}
	}
	return found
}

// twin returns a region that may be another copy of the code of a region, and that a rank does not
// execute, if there is one. Without lines of the source, nothing but the function shows that the
// compiler made two copies of a loop, one for this rank and one for the others. A call path
// distinguishes two calls of a function.
func twin(e *evidence, row int, what accounts.Activity) (twin accounts.Activity, ok bool) {
	own, most := e.Each[e.MainOf[row]].Tallies, int64(0)
	for u, t := range e.Total {
		if u.Function != what.Function || u.Next != what.Next || own[u] != nil || t.Ns < most || t.Ns == most && !u.Less(twin) {
			continue
		}
		if e.Names.SameSource(u.Site, what.Site) && e.Names.SameSource(u.NextSite, what.NextSite) {
			twin, ok, most = u, true, t.Ns
		}
	}
	return twin, ok
}

// mostIn returns the longest time that a rank spends in a region.
func mostIn(e *evidence, what accounts.Activity) (ns int64) {
	for _, i := range e.MainOf {
		if i < 0 {
			continue
		}
		if t := e.Each[i].Tallies[what]; t != nil {
			ns = max(ns, t.Ns)
		}
	}
	return ns
}

// suggest assumes that the work that one rank does alone is divided among all ranks.
func (aloneRank) suggest(e *evidence) []Hypothesis {
	var most *soloist
	for row := range e.Ranks {
		if o := e.alone().ranks[row]; o != nil && (most == nil || o.ns > most.ns) {
			most = o
		}
	}
	if most == nil {
		return nil
	}
	h := Hypothesis{width: oneRegion, Cause: e.causeOf(verdict.Serialization, []outliers.Worker{{Row: most.row}}, most.longest)}
	h.Cause.Form = verdict.Master
	compareEach(e, &h.Cause, outliers.Worker{Row: most.row}, nil, most.longest)
	n, own := float64(len(e.Ranks)), e.MainOf[most.row]
	h.change = change{takes: func(location int, r predict.Region, ns int64) int64 {
		if location == own && most.own[activityOf(r)] > 0 {
			return int64(float64(ns) / n)
		}
		return ns
	}}
	h.What = "all ranks had a part of what " + h.Cause.Who() + " computes alone, most of it " + verdict.Between(h.Cause.After, h.Cause.Before)
	h.Assumes = "The work is divided by the number of ranks, which costs nothing; calls keep their own cost, waiting follows."
	return []Hypothesis{h}
}
