package route

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// A Route is the critical path as stretches, in order of time for each location.
type Route struct {
	Start, End int64
	Launch     int          // location where the path begins
	LaunchEnd  int64        // end of its launch
	Stretches  []StretchLog // by location
	Count      int
	OnPath     []int64 // by row: time of the path on a rank, its launch included, in ns
	Slack      []int64 // by row: slack of a rank in ns (slack.go); −1: not known
}

// Pass finds the critical path. The result is nil for a trace without the times of single calls.
var Pass = pass.New("route", func(_ context.Context, r *pass.Run) (*Route, error) {
	f := matching.Pass.Result(r)
	if f == nil {
		return nil, nil
	}
	p, ranks := walk(f), r.Trace().Ranks().Len()
	p.OnPath, p.Slack = p.byRow(f.Locations, ranks), slackOf(f, p.End, ranks)
	return &p, nil
}, matching.Pass)

// byRow returns the time of the path on each rank.
func (p *Route) byRow(locations []timeline.Location, ranks int) []int64 {
	list := make([]int64, ranks)
	for i, l := range locations {
		list[l.Row] += p.Stretches[i].ns
		if i == p.Launch {
			list[l.Row] += p.LaunchEnd - p.Start
		}
	}
	return list
}

// walk follows the path backward from the last location to leave.
func walk(f *matching.Result) Route {
	p := Route{Stretches: make([]StretchLog, len(f.Locations)), Launch: -1}
	at := -1
	for i, x := range f.Extents {
		p.Stretches[i] = newStretchLog(f.Log.Spool, len(f.Locations))
		if x.Empty {
			continue
		}
		if at < 0 || x.End > f.Extents[at].End {
			at = i
		}
		if p.Launch < 0 || x.Start < p.Start {
			p.Start, p.Launch = x.Start, i
		}
	}
	if at < 0 {
		return p
	}
	p.End = f.Extents[at].End
	cursors := make([]matching.BackwardWaits, len(f.Locations))
	for i := range cursors {
		cursors[i] = f.Waits[i].Backward()
	}
	for t := p.End; ; {
		w := cursors[at].Before(t)
		if w == nil || min(w.End, t) < f.Extents[at].Start {
			start := max(p.Start, min(t, f.Extents[at].Start))
			p.take(at, start, t)
			if main := f.Locations[at].Main; main != at && start > p.Start {
				// as far as MPI can know, a thread is started by the rank's first one
				at, t = main, start
				continue
			}
			p.Launch, p.LaunchEnd = at, start
			break
		}
		until := min(w.End, t)
		p.take(at, until, t)
		at, t = int(w.Cause), until
	}
	for i := range p.Stretches {
		p.Stretches[i].finish()
	}
	return p
}

// take adds a stretch to the path. Stretches come in order of decreasing time.
func (p *Route) take(at int, start, end int64) {
	if end > start && p.Stretches[at].add(Stretch{start, end}) {
		p.Count++
	}
}

// StretchesOf calls yield for the stretches of the path on the rank of a location.
func (p *Route) StretchesOf(locations []timeline.Location, location int, yield func(begin, end int64)) {
	row := locations[location].Row
	for i := location; i < len(locations) && locations[i].Row == row; i++ {
		r := p.Stretches[i].Forward()
		for s := r.Peek(); s != nil; s = r.Peek() {
			yield(s.Start, s.End)
			r.Next++
		}
	}
}
