package delays

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// Root causes of waiting (Böhme, Geimer, Wolf, Arnold, "Identifying the root causes of wait states in large-scale
// parallel applications", ICPP 2010, §III). A rank W waits ω for a rank D. Between the last moment at which both were in
// step and this wait, D spent more time than W in some activities: these excesses d(c) are delays; and D may have waited
// itself, w in all. The wait is put down to both in proportion:
//
//	share = min(ω / (Σd + w), 1)
//	short-term cost of activity c on D  +=  share · d(c)
//	propagated to D's own waits         +=  share · w, each in proportion to its length
//
// and what was propagated to a wait is put down, in the same proportions, to what caused that one, as long-term costs. The
// moments at which two ranks are in step are those at which one waited for the other or both for the same third.
//
// Here the paper's two replays over all processes are one pass over the event log (Delays.follow) that keeps for each wait
// its delays, and one backward over those (records.go).

// How much is kept: intervals are cut to so many latest spans of a location, fewer where there are so many locations that
// they would all together be more than allSpans, and so many latest moments in step are remembered.
const (
	maxSpans     = 4096
	minSpans     = 256
	allSpans     = 1 << 20
	minSteps     = 64
	allSteps     = 1 << 19
	stepsPerRank = 4
)

// How much is looked at: so many spans, so many more for each call that was followed, and so many of the latest spans of
// either location for each wait in any case. Where ranks are in step with each other only now and then, waits have long
// intervals, and there could be as many of those as calls.
const (
	freeSpans    = 1 << 25
	spansPerCall = 64
	leastSpans   = 64
)

// waiting is the activity of a span in which the location waited.
const waiting = -1

// A span is what a location did until when, since the end of the span before.
type span struct {
	end      int64
	activity int32
}

// A step is a moment at which the location was in step with others: those that have a step of the same number.
type step struct {
	at int64
	id uint64
}

// A past is what is remembered of one location.
type past struct {
	start   int64 // of the first span
	spans   []span
	most    int  // spans that stay when there are twice as many, or more if waits still need them
	moments int  // latest moments in step that stay when there are twice as many
	cut     bool // earlier spans were dropped
	steps   []step
	waits   matching.ForwardWaits
	pending []matching.Wait // of the calls so far,
	settled int             // and how many of them are put down to somebody
	records []delayRecord
	dropped int // records before these
	now     int64
	before  accounts.Activity
	began   bool
}

// Delays follows all locations.
type Delays struct {
	forward    *matching.Result
	pasts      []past
	numbers    map[accounts.Activity]int32
	calls      []int32 // numbers by terminal; 0: not known yet
	Activities []accounts.Activity
	latest     []numbered // by activity of a call: the computation that came before it lately

	sums    []int64 // by activity: of the interval that is looked at
	touched []int32
	records int // kept

	explained int // waits so far
	shortened int // those of which less was looked at than is remembered
	unspent   int // spans that may be looked at
	looked    int // spans that were

	Costs    map[Place]*Cost
	Direct   float64
	Indirect float64
	All      int64 // ns waited
}

type numbered struct {
	what   accounts.Activity
	number int32
}

// A Place is where a delay was.
type Place struct {
	Location int32
	Activity int32
}

// A Cost is what it cost others, in nanoseconds.
type Cost struct{ Short, Long float64 }

// Pass puts all waits down to delays. It needs nothing of other passes but the matching, nor they anything of it, and
// runs beside them. Nil for a trace without the times of single calls.
var Pass = pass.New("delays", func(ctx context.Context, r *pass.Run) (*Delays, error) {
	f := matching.Pass.Result(r)
	if f == nil {
		return nil, nil
	}
	d := newDelays(f)
	if err := d.follow(ctx); err != nil {
		return nil, fmt.Errorf("root causes: %w", err)
	}
	return d, nil
}, matching.Pass).Early()

func newDelays(f *matching.Result) *Delays {
	d := &Delays{forward: f, pasts: make([]past, len(f.Locations)), numbers: map[accounts.Activity]int32{}, Costs: map[Place]*Cost{}, unspent: freeSpans}
	for i := range d.pasts {
		d.pasts[i].waits = matching.ForwardWaits{Log: &f.Waits[i]}
		d.pasts[i].most = max(minSpans, min(maxSpans, allSpans/len(d.pasts)))
		// a master is in step with all its workers in turn
		d.pasts[i].moments = max(minSteps, min(stepsPerRank*len(d.pasts), allSteps/len(d.pasts)))
	}
	return d
}

func (d *Delays) number(what accounts.Activity) int32 {
	n, known := d.numbers[what]
	if !known {
		n = int32(len(d.Activities))
		d.numbers[what] = n
		d.Activities = append(d.Activities, what)
		d.sums = append(d.sums, 0)
		d.latest = append(d.latest, numbered{})
	}
	return n
}

// numberOf is number for a call of a terminal.
func (d *Delays) numberOf(call accounts.Activity, terminal int32) int32 {
	for int(terminal) >= len(d.calls) {
		d.calls = append(d.calls, 0)
	}
	if d.calls[terminal] == 0 {
		d.calls[terminal] = d.number(call) + 1
	}
	return d.calls[terminal] - 1
}

// computation is the number of what lies between two calls, the second of which has number n.
func (d *Delays) computation(before, call accounts.Activity, n int32) int32 {
	what := accounts.Activity{Function: before.Function, Next: call.Function, Site: before.Site, NextSite: call.Site}
	if d.latest[n].what != what {
		d.latest[n] = numbered{what, d.number(what)}
	}
	return d.latest[n].number
}

// follow goes through all calls, slab by slab. When all locations have come to the end of a slab, the waits that ended
// before it are put down to their causes, in order of time: times that are off a little, rounded ones or those of other
// clocks, may put what the cause did last into the slab after the wait's.
func (d *Delays) follow(ctx context.Context) error {
	readers := make([]*eventlog.Reader, len(d.pasts))
	for i := range readers {
		readers[i] = d.forward.Log.Read(i)
	}
	type end struct {
		at       int64
		location int
	}
	var ends []end
	before, now := int64(math.MinInt64), int64(math.MinInt64)
	slabs := d.forward.Log.Slabs
	_, pass, finish := passes.Calls(passes.Named(ctx, "following delays"), d.forward.Log.Calls)
	defer finish()
	for slab := range slabs {
		pass.At(slab, slabs)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, r := range readers {
			for r.Next() {
				d.call(&r.Record, r.Terminal)
				now = max(now, r.Record.Enter)
			}
			if err := r.Err(); err != nil {
				return err
			}
		}
		ends = ends[:0]
		until := before
		before = now
		for i := range d.pasts {
			p := &d.pasts[i]
			for _, w := range p.pending[p.settled:] {
				if w.End <= until {
					ends = append(ends, end{w.End, i})
				}
			}
		}
		slices.SortFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.at, b.at), a.location-b.location) })
		for i, e := range ends {
			if i&0xfff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			d.settle(e.location, e.at)
		}
		for i := range d.pasts {
			d.pasts[i].forget(until)
		}
	}
	d.finish()
	return nil
}

// call takes the next call of a location.
func (d *Delays) call(c *timeline.Record, terminal int32) {
	p := &d.pasts[c.Location]
	x := &d.forward.Extents[c.Location]
	if c.Exit <= x.Start && c.Enter < x.Start || c.Enter >= x.End && c.Exit > x.End {
		return
	}
	call := accounts.Activity{Function: c.Function.ID, Site: c.Signature.Site}
	number := d.numberOf(call, terminal)
	d.unspent += spansPerCall
	if !p.began {
		p.began, p.now = true, c.Enter
	}
	if c.Enter > p.now {
		p.until(c.Enter, d.computation(p.before, call, number))
	}
	p.before = call
	if c.Exit <= p.now {
		return
	}
	for w := p.waits.Peek(); w != nil && w.Begin < c.Exit; w = p.waits.Peek() {
		p.waits.Next++
		p.wait(*w)
		p.until(w.Begin, number)
		p.until(w.End, waiting)
	}
	p.until(c.Exit, number)
}

// wait notes a wait. One that began with polls before this call turns what came since into waiting.
func (p *past) wait(w matching.Wait) {
	for n := len(p.spans); n > 0 && p.spans[n-1].end > w.Begin; n = len(p.spans) {
		if p.startOf(n-1) < w.Begin {
			p.spans[n-1].end = w.Begin
		} else {
			p.spans = p.spans[:n-1]
		}
		p.now = w.Begin
	}
	p.pending = append(p.pending, w)
}

// until notes what the location did up to a time.
func (p *past) until(end int64, what int32) {
	if end <= p.now {
		return
	}
	if len(p.spans) == 0 {
		p.start = p.now
	}
	p.spans = append(p.spans, span{end, what})
	p.now = end
}

// startOf is when the i-th span began.
func (p *past) startOf(i int) int64 {
	if i == 0 {
		return p.start
	}
	return p.spans[i-1].end
}

// forget drops spans that are more than are remembered. Those that end after a time stay: waits since then are not put down to
// anybody yet.
func (p *past) forget(until int64) {
	if len(p.spans) < 2*p.most {
		return
	}
	needed := len(p.spans) - sort.Search(len(p.spans), func(i int) bool { return p.spans[i].end > until })
	if drop := len(p.spans) - max(p.most, needed); drop > 0 {
		p.start = p.startOf(drop)
		p.spans, p.cut = append(p.spans[:0], p.spans[drop:]...), true
	}
}

// settle puts the waits of a location that ended by a time down to their causes, which have been followed up to there.
func (d *Delays) settle(location int, until int64) {
	p := &d.pasts[location]
	for p.settled < len(p.pending) && p.pending[p.settled].End <= until {
		w := p.pending[p.settled]
		if p.settled++; 2*p.settled >= len(p.pending) {
			p.pending, p.settled = p.pending[:copy(p.pending, p.pending[p.settled:])], 0
		}
		d.settle(int(w.Cause), w.Came) // it may have waited itself, in the very call
		d.explain(location, w)
	}
}

// explain finds the delays behind a wait.
func (d *Delays) explain(location int, w matching.Wait) {
	d.All += w.End - w.Begin
	own, other := &d.pasts[location], &d.pasts[w.Cause]
	since := inStep(own.steps, other.steps, w.Came)
	for _, p := range []*past{own, other} {
		if p.cut {
			since = max(since, p.start)
		}
	}
	if begin := d.mayBegin(own, w.Begin, other, w.Came); begin > since {
		since = begin
		d.shortened++
	}
	// on the clock of the cause, which is one for all that waited for it
	id := uint64(w.Came)<<20 ^ uint64(w.Cause)
	own.inStep(step{w.Came, id})
	other.inStep(step{w.Came, id})

	d.add(other, since, w.Came, 1)
	d.add(own, since, w.Begin, -1)
	r := delayRecord{begin: w.Begin, end: w.End, order: d.explained, cause: w.Cause}
	d.explained++
	delay := 0.0
	for _, n := range d.touched {
		if excess := d.sums[n]; excess > 0 {
			r.delays = append(r.delays, delayPart{n, float64(excess)})
			delay += float64(excess)
		}
		d.sums[n] = 0
	}
	d.touched = d.touched[:0]
	waited := 0.0
	r.to = other.dropped + len(other.records)
	for r.to > other.dropped && other.records[r.to-1-other.dropped].end > w.Came {
		r.to--
	}
	r.from = r.to
	for r.from > other.dropped {
		q := &other.records[r.from-1-other.dropped]
		if q.end <= since {
			break
		}
		waited += float64(q.end - max(q.begin, since))
		r.from--
	}
	if total := delay + waited; total > 0 {
		r.share = min(1/total, 1/float64(w.End-w.Begin))
	}
	own.records = append(own.records, r)
	d.Direct += float64(w.End-w.Begin) * r.share * delay
	d.Indirect += float64(w.End-w.Begin) * r.share * waited
	if d.records++; d.records > MaxRecords {
		d.propagate(false)
	}
}

// mayBegin is when an interval may begin at the earliest that ends at a time of its own for each of two locations: no more spans
// of either may be looked at.
func (d *Delays) mayBegin(own *past, ownEnd int64, other *past, otherEnd int64) int64 {
	may := max(leastSpans, d.unspent/2)
	begin := int64(math.MinInt64)
	if n := own.begun(ownEnd) - may; n > 0 {
		begin = own.startOf(n)
	}
	if n := other.begun(otherEnd) - may; n > 0 {
		begin = max(begin, other.startOf(n))
	}
	return begin
}

// begun is how many spans begin before a time: those of a slab are there before its waits are put down to anybody.
func (p *past) begun(t int64) int {
	if p.start >= t {
		return 0
	}
	return min(len(p.spans), 1+sort.Search(len(p.spans), func(i int) bool { return p.spans[i].end >= t }))
}

// add sums up what a location did between two times, waiting aside.
func (d *Delays) add(p *past, from, to int64, sign int64) {
	for i := p.begun(to) - 1; i >= 0 && p.spans[i].end > from; i-- {
		s := &p.spans[i]
		d.unspent--
		d.looked++
		start, end := max(p.startOf(i), from), min(s.end, to)
		if s.activity == waiting || end <= start {
			continue
		}
		if d.sums[s.activity] == 0 {
			d.touched = append(d.touched, s.activity)
		}
		d.sums[s.activity] += sign * (end - start)
	}
}

// inStep is the last moment before t at which both were in step, the beginning of time if there is none.
func inStep(a, b []step, t int64) int64 {
	i, k := len(a)-1, len(b)-1
	for i >= 0 && k >= 0 {
		switch {
		case a[i].at >= t || a[i].at > b[k].at:
			i--
		case b[k].at >= t || b[k].at > a[i].at:
			k--
		case a[i].id == b[k].id:
			return a[i].at
		default:
			i--
		}
	}
	return math.MinInt64
}

// inStep notes a moment in step. Steps come nearly in order of time.
func (p *past) inStep(s step) {
	i := len(p.steps)
	for i > 0 && p.steps[i-1].at > s.at {
		i--
	}
	for k := i; k > 0 && p.steps[k-1].at == s.at; k-- {
		if p.steps[k-1].id == s.id {
			return
		}
	}
	if len(p.steps) == 2*p.moments {
		if i < p.moments {
			return
		}
		p.steps = append(p.steps[:0], p.steps[p.moments:]...)
		i -= p.moments
	}
	p.steps = append(p.steps, step{})
	copy(p.steps[i+1:], p.steps[i:])
	p.steps[i] = s
}
