package criticalpath

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// A route is the critical path as stretches, sorted by time for each location.
type route struct {
	start, end int64
	launch     int // the location where the path begins, and
	launchEnd  int64
	stretches  []stretchLog // by location
	count      int
	onPath     []int64 // by row: what of the path is on a rank, its launch included, in ns
	slack      []int64 // by row: by how much a rank could be later (slack.go); −1: not known
}

// routePass finds the critical path. Nil for a trace without the times of single calls.
var routePass = pass.New("route", func(ctx context.Context, r *pass.Run) (*route, error) {
	f, err := matchingPass.Of(ctx, r)
	if f == nil || err != nil {
		return nil, err
	}
	p, ranks := walk(f), r.Trace().Ranks().Len()
	p.onPath, p.slack = p.byRow(f.locations, ranks), slackOf(f, p.end, ranks)
	return &p, nil
}, matchingPass)

// byRow adds the path up by ranks.
func (p *route) byRow(locations []timeline.Location, ranks int) []int64 {
	list := make([]int64, ranks)
	for i, l := range locations {
		list[l.Row] += p.stretches[i].ns
		if i == p.launch {
			list[l.Row] += p.launchEnd - p.start
		}
	}
	return list
}

// walk goes backward from the last location to leave.
func walk(f *forward) route {
	p := route{stretches: make([]stretchLog, len(f.locations)), launch: -1}
	at := -1
	for i, x := range f.extents {
		p.stretches[i] = newStretchLog(f.journal.Spool, len(f.locations))
		if x.empty {
			continue
		}
		if at < 0 || x.end > f.extents[at].end {
			at = i
		}
		if p.launch < 0 || x.start < p.start {
			p.start, p.launch = x.start, i
		}
	}
	if at < 0 {
		return p
	}
	p.end = f.extents[at].end
	cursors := make([]backwardWaits, len(f.locations))
	for i := range cursors {
		cursors[i] = f.waits[i].backward()
	}
	for t := p.end; ; {
		w := cursors[at].before(t)
		if w == nil || min(w.end, t) < f.extents[at].start {
			start := max(p.start, min(t, f.extents[at].start))
			p.take(at, start, t)
			if main := f.locations[at].Main; main != at && start > p.start {
				// a thread begins where the rank's first one started it, so far as MPI can tell
				at, t = main, start
				continue
			}
			p.launch, p.launchEnd = at, start
			break
		}
		until := min(w.end, t)
		p.take(at, until, t)
		at, t = int(w.cause), until
	}
	for i := range p.stretches {
		p.stretches[i].finish()
	}
	return p
}

// take puts a stretch on the path; they come in order of falling time.
func (p *route) take(at int, start, end int64) {
	if end > start && p.stretches[at].add(stretch{start, end}) {
		p.count++
	}
}

// stretchesOf lists the stretches of the path on the rank of a location.
func (p *route) stretchesOf(locations []timeline.Location, location int, yield func(begin, end int64)) {
	row := locations[location].Row
	for i := location; i < len(locations) && locations[i].Row == row; i++ {
		r := p.stretches[i].forward()
		for s := r.peek(); s != nil; s = r.peek() {
			yield(s.start, s.end)
			r.next++
		}
	}
}
