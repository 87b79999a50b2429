package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// blockedRanks is ranks that are blocked in the kernel in a region, neither running nor ready to
// run: all of them, or too many to be an exception. If they wait for files or memory, these are the
// cause. Otherwise it may be a wait that the program wants: it is named only if there is no other
// cause.
type blockedRanks struct{}

// suggest assumes that ranks are not blocked in the region in which they are blocked longest.
func (blockedRanks) suggest(e *evidence) []Hypothesis {
	where, set, all := longestOf(e, func(o *accounts.OffCPU) int64 { return o.Blocked })
	if len(set) == 0 || !e.isWorthIt(int64(set[0].Useful*1e9)) || all > 1 && e.AreFew(&outliers.Suspicion{Set: set}) {
		return nil
	}
	h := Hypothesis{width: allRanks}
	blocked, wall, bytes, moves := int64(0), int64(0), 0.0, 0
	only := map[int]bool{}
	for _, w := range set {
		i := e.MainOf[w.Row]
		o := e.Each[i].OffCPU[where]
		only[i] = true
		blocked, wall, bytes = blocked+o.Blocked, wall+o.Wall, bytes+float64(max(0, o.Bytes))
		if o.MovesData() {
			moves++
		}
	}
	named := set
	if len(set) == all && all > 1 {
		named = nil // all alike
	}
	if 2*moves <= len(set) {
		bytes = 0
	}
	n := float64(len(set))
	h.Cause = e.causeOf(verdict.Kernel, named, where)
	setWait(e, &h.Cause, set, nil, float64(blocked)/n, bytes/n)
	if h.Cause.Bytes > 0 || h.Cause.DiskSeconds > 0 {
		h.Cause.Kind, h.Cause.Form = verdict.IO, verdict.Blocked
	}
	h.last = h.Cause.Kind == verdict.Kernel && h.Cause.MemorySeconds == 0
	h.Cause.EachSeconds, h.Cause.BlockedSeconds = accounts.Seconds(wall)/n, accounts.Seconds(blocked)/n
	h.change = without(e, only, outliers.Only(where), func(o *accounts.OffCPU) int64 { return o.Blocked })
	h.What = "nothing blocked " + h.Cause.Who() + " in the kernel " + verdict.Between(h.Cause.After, h.Cause.Before)
	h.Assumes = "These computations take as long as the ranks were running or ready to run; calls keep their own cost, waiting follows."
	return []Hypothesis{h}
}

// longestOf returns the region in which ranks have most of a part of the measured time, those that
// have at least half as much of it there as the first of them, longest first, and the number of all
// ranks.
func longestOf(e *evidence, part func(*accounts.OffCPU) int64) (where accounts.Activity, set []outliers.Worker, all int) {
	for _, i := range e.MainOf {
		if i >= 0 {
			all++
		}
	}
	where, most := largest(sumsOf(e, part))
	if most == 0 {
		return where, nil, all
	}
	for row, i := range e.MainOf {
		if i >= 0 && e.Each[i].OffCPU[where] != nil {
			set = append(set, outliers.Worker{Row: row, Useful: accounts.Seconds(part(e.Each[i].OffCPU[where]))})
		}
	}
	return where, atLeastHalf(set), all
}

// sumsOf returns for how long all ranks together have a part of the measured time, by region.
func sumsOf(e *evidence, part func(*accounts.OffCPU) int64) map[accounts.Activity]int64 {
	sums := map[accounts.Activity]int64{}
	for _, i := range e.MainOf {
		if i >= 0 {
			for what, o := range e.Each[i].OffCPU {
				sums[what] += part(o)
			}
		}
	}
	return sums
}

// without removes a part of the measured time (for instance the wait for a CPU) from the
// computations of a scope on some locations (nil: all). If it consisted of few long pauses, these
// are removed; otherwise each instance is shortened by the same factor.
func without(e *evidence, only map[int]bool, in outliers.Scope, part func(*accounts.OffCPU) int64) change {
	cuts := make([]map[predict.Region]cut, len(e.Each))
	for i := range e.Each {
		if only != nil && !only[i] {
			continue
		}
		cuts[i] = map[predict.Region]cut{}
		for what, o := range e.Each[i].OffCPU {
			if t := e.Each[i].Tallies[what]; t != nil && o.Wall > 0 && in.Has(what) {
				cuts[i][regionOf(what)] = cutOf(t, e.usual(what), part(o), o.Wall, keptOf(e.Singles(e.Locations[i].Row, what), e.usual(what), part))
			}
		}
	}
	return shortened(cuts)
}

// shortened makes instances of computations shorter, by location.
func shortened(cuts []map[predict.Region]cut) change {
	return change{takes: func(location int, r predict.Region, ns int64) int64 {
		if c, known := cuts[location][r]; known {
			return c.of(ns)
		}
		return ns
	}}
}

// A cut is how instances of a computation become shorter: those above the limit take as long as
// usual or, if there is no limit, all are multiplied by the factor. Instances from kept on stay as
// they are.
type cut struct{ factor, limit, usual, kept float64 }

// A kept is instances that a cut must not shorten: there are n of them, all at least least long.
type kept struct{ least, sum, n float64 }

// keptOf returns the long instances that something else made long than what is removed: of which
// that part was measured to be small. They must be longer than all others.
func keptOf(singles []accounts.OffCPU, usual float64, part func(*accounts.OffCPU) int64) (k kept) {
	other := longer * usual
	for i := range singles {
		if wall := float64(singles[i].Wall); float64(part(&singles[i])) >= explains*(wall-usual) {
			other = max(other, wall)
		}
	}
	for i := range singles {
		if wall := float64(singles[i].Wall); usual > 0 && wall > other {
			if k.n == 0 || wall < k.least {
				k.least = wall
			}
			k.sum, k.n = k.sum+wall, k.n+1
		}
	}
	k.least *= 0.99 // clocks of measurements and of calls differ
	return k
}

// cutOf returns the cut that removes ns of the measured wall time of a computation. A factor must
// not shorten what was normal: if the pauses of long instances explain what is to be removed, and
// are not much more, only these become shorter.
func cutOf(t *accounts.Tally, usual float64, ns, wall int64, but kept) cut {
	if usual > 0 {
		n, long := t.Spread.Above(longer * usual)
		pauses := long - but.sum - (float64(n)-but.n)*usual
		if pauses >= explains*float64(ns) && explains*pauses <= float64(ns) {
			return cut{1, longer * usual, usual, but.least}
		}
	}
	return cut{factor: 1 - min(1, float64(ns)/max(1, float64(wall)-but.sum)), kept: but.least}
}

func (c cut) of(ns int64) int64 {
	switch {
	case c.kept > 0 && float64(ns) >= c.kept:
		return ns
	case c.usual == 0:
		return int64(float64(ns) * c.factor)
	case float64(ns) > c.limit:
		return int64(c.usual)
	}
	return ns
}

// movedIn returns the most data that a measured instance of a region longer than limit ns read or
// wrote; 0 if that cannot matter for what such an instance loses, in ns.
func movedIn(e *evidence, row int, what accounts.Activity, limit, lost float64) (bytes float64) {
	for _, one := range e.Singles(row, what) {
		if float64(one.Wall) >= limit {
			bytes = max(bytes, float64(one.Bytes))
		}
	}
	if bytes*perByte < mentioned*lost {
		return 0
	}
	return bytes
}
