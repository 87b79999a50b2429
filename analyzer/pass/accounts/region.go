package accounts

import (
	"iter"

	activities "github.com/cairn-mpi/cairn/analyzer/activity"
)

// A region is the computation between two calls. Calls that only query local state, as clock
// readings, do not divide it (semantics.IsLocalQuery): a rank that measures its own times computes
// in the same regions as one that does not. So while there are such calls, it is not yet known
// which region it is.

// An openRegion is a region with local queries in it, up to now.
type openRegion struct {
	on       bool
	ns, path int64
	beside   int64
	parts    []partTime
	pieces   []Piece // of the path since it began
}

// A part is the two calls around a part of a region, of which at least one is a local query.
type part struct{ after, before Activity }

type partTime struct {
	what Activity
	ns   int64
}

// undecided is the activity of pieces in an open region.
var undecided = Activity{Next: 1}

// extendRegion adds a part to the open region.
func (a *Account) extendRegion(s activities.Span, p part, location int) {
	o := &a.open
	o.on = true
	ns := s.To - s.From
	a.Compute += ns
	a.since += ns
	o.ns += ns
	o.path += a.follow(undecided, Computation, location, s.From, s.To)
	o.beside += a.beside.within(s.From, s.To)
	what := computation(p.after, p.before)
	for i := range o.parts {
		if o.parts[i].what == what {
			o.parts[i].ns += ns
			return
		}
	}
	o.parts = append(o.parts, partTime{what, ns})
}

// closeRegion accounts the open region, if there is one, as the computation between two calls.
func (a *Account) closeRegion(before, call Activity) {
	o := &a.open
	if !o.on {
		return
	}
	o.on = false
	what := computation(before, call)
	a.add(what, Computation, o.ns, o.path)
	a.tally(what).Beside += o.beside
	a.enterRegion(what)
	for _, p := range o.parts {
		if a.parts == nil {
			a.parts = map[Activity]map[Activity]int64{}
		}
		if a.parts[p.what] == nil {
			a.parts[p.what] = map[Activity]int64{}
		}
		a.parts[p.what][what] += p.ns
	}
	for _, p := range o.pieces {
		if p.Kind == Computation && p.What == undecided {
			p.What = what
		}
		a.pieces.add(p)
	}
	o.ns, o.path, o.beside, o.parts, o.pieces = 0, 0, 0, o.parts[:0], o.pieces[:0]
}

// addPiece adds the next piece of the path. Short ones are merged, so that an open region keeps
// few, however many queries are in it.
func (a *Account) addPiece(p Piece) {
	if !a.open.on {
		a.pieces.add(p)
		return
	}
	p.longest = p.End - p.Start
	if n := len(a.open.pieces); n > 0 && a.open.pieces[n-1].End == p.Start && a.open.pieces[n-1].absorb(p, a.pieces.limit) {
		return
	}
	a.open.pieces = append(a.open.pieces, p)
}

// regionsOf yields the regions that the computation between two calls, which may be queries, is
// part of, and its share of time in each.
func (a *Account) regionsOf(what Activity) iter.Seq2[Activity, float64] {
	return func(yield func(Activity, float64) bool) {
		regions, all := a.parts[what], int64(0)
		if len(regions) == 0 {
			yield(what, 1)
			return
		}
		for _, ns := range regions {
			all += ns
		}
		for region, ns := range regions {
			share := 1 / float64(len(regions)) // rounded times may all be 0
			if all > 0 {
				share = float64(ns) / float64(all)
			}
			if !yield(region, share) {
				return
			}
		}
	}
}

// computation is the computation between two calls.
func computation(before, call Activity) Activity {
	return Activity{before.Function, call.Function, before.Site, call.Site}
}
