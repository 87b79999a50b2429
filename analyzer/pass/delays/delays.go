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

// Root causes of waiting (Böhme, Geimer, Wolf, Arnold, "Identifying the root causes of wait states
// in large-scale parallel applications", ICPP 2010, §III). A rank W waits ω for a rank D. Since the
// last time at which both were in step, D spent more time than W in some activities. These excesses
// d(c) are delays. D may also have waited itself, w in total. The wait is attributed to both in
// proportion:
//
//	share = min(ω / (Σd + w), 1)
//	short-term cost of activity c on D  +=  share · d(c)
//	propagated to D's own waits         +=  share · w, each in proportion to its length
//
// The cost that is propagated to a wait is attributed, in the same proportions, to the causes of
// that wait, as long-term cost. Two ranks are in step when one waited for the other, or both for
// the same third rank.
//
// The two replays of the paper over all processes are implemented as one pass over the event log
// (Delays.follow), which stores the delays of each wait, and one backward pass over these records
// (records.go).

// Bounds of memory: at most maxSpans of the latest spans are kept per location, fewer if that is
// more than allSpans for all locations. The number of latest steps is bounded in the same way.
const (
	maxSpans     = 4096
	minSpans     = 256
	allSpans     = 1 << 20
	minSteps     = 64
	allSteps     = 1 << 19
	stepsPerRank = 4
)

// Bounds of work: freeSpans, plus spansPerCall for each call followed, plus minSpansPerWait of the
// latest spans of either location for each wait in any case. Where ranks are rarely in step with
// each other, waits have long intervals, up to the length of the run.
const (
	freeSpans       = 1 << 25
	spansPerCall    = 64
	minSpansPerWait = 64
)

// waiting is the activity of a span in which the location waited.
const waiting = -1

// A span is an activity of a location, from the end of the previous span to end.
type span struct {
	end      int64
	activity int32
}

// A step is a time at which the location was in step with others: those that have a step with the
// same id.
type step struct {
	at int64
	id uint64
}

// A past is the recent history of one location.
type past struct {
	start   int64 // start of the first span
	spans   []span
	most    int  // number of spans to keep when there are twice as many; more if waits still need them
	moments int  // number of latest steps to keep when there are twice as many
	cut     bool // earlier spans were dropped
	steps   []step
	waits   matching.ForwardWaits
	pending []matching.Wait // waits of the calls so far
	settled int             // how many of them are attributed
	records []delayRecord
	dropped int // number of dropped records before these
	now     int64
	before  accounts.Activity
	began   bool
}

// Delays attributes the waits of all locations.
type Delays struct {
	forward    *matching.Result
	pasts      []past
	numbers    map[accounts.Activity]int32
	calls      []int32 // numbers by terminal; 0: not known yet
	Activities []accounts.Activity
	latest     []numbered // by activity of a call: the latest computation before it

	sums    []int64 // by activity: sums of the current interval
	touched []int32
	records int // number of records kept

	explained int // waits attributed so far
	shortened int // waits whose interval was cut by the bounds of work
	unspent   int // remaining bound of work, in spans
	looked    int // work done, in spans

	Costs    map[Origin]*Cost
	Direct   float64
	Indirect float64
	All      int64 // total waiting in ns
}

type numbered struct {
	what   accounts.Activity
	number int32
}

// An Origin is the location and activity of a delay.
type Origin struct {
	Location int32
	Activity int32
}

// A Cost is the waiting of others, in nanoseconds, that a delay caused directly (Short) and by
// propagation (Long).
type Cost struct{ Short, Long float64 }

// Pass attributes all waits to delays. It depends only on the matching, and no other pass depends
// on it, so it runs concurrently with them. The result is nil for a trace without the times of
// single calls.
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
	d := &Delays{forward: f, pasts: make([]past, len(f.Locations)), numbers: map[accounts.Activity]int32{}, Costs: map[Origin]*Cost{}, unspent: freeSpans}
	for i := range d.pasts {
		d.pasts[i].waits = matching.ForwardWaits{Log: &f.Waits[i]}
		d.pasts[i].most = max(minSpans, min(maxSpans, allSpans/len(d.pasts)))
		// a master is in step with its workers in turn
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

// numberOf returns the number of the activity of a call with a terminal.
func (d *Delays) numberOf(call accounts.Activity, terminal int32) int32 {
	for int(terminal) >= len(d.calls) {
		d.calls = append(d.calls, 0)
	}
	if d.calls[terminal] == 0 {
		d.calls[terminal] = d.number(call) + 1
	}
	return d.calls[terminal] - 1
}

// computation returns the number of the computation between two calls, the second of which has
// number n.
func (d *Delays) computation(before, call accounts.Activity, n int32) int32 {
	what := accounts.Activity{Function: before.Function, Next: call.Function, Site: before.Site, NextSite: call.Site}
	if d.latest[n].what != what {
		d.latest[n] = numbered{what, d.number(what)}
	}
	return d.latest[n].number
}

// follow reads all calls, slab by slab. When all locations have reached the end of a slab, it
// attributes the waits that ended before it, in order of time. Rounded times and clock errors may
// put the last activity of the cause into the slab after that of the wait.
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

// call adds the next call of a location.
func (d *Delays) call(c *timeline.Record, terminal int32) {
	p := &d.pasts[c.Location]
	x := &d.forward.Extents[c.Location]
	if c.Exit <= x.Start && c.Enter < x.Start || c.Enter >= x.End && c.Exit > x.End {
		return
	}
	d.unspent += spansPerCall
	if p.began && c.Semantics.IsLocalQuery() {
		return // part of the computation around it, as in the accounts
	}
	call := accounts.Activity{Function: c.Function.ID, Site: c.Signature.Site}
	number := d.numberOf(call, terminal)
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

// wait adds a wait. If it began with polls before this call, the activities since then become
// waiting.
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

// until adds a span of the location that ends at end.
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

// startOf returns the start of the i-th span.
func (p *past) startOf(i int) int64 {
	if i == 0 {
		return p.start
	}
	return p.spans[i-1].end
}

// forget drops the oldest spans. Spans that end after until stay, because later waits are not
// attributed yet.
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

// settle attributes the waits of a location that ended by a time. Their causes have been followed
// up to there.
func (d *Delays) settle(location int, until int64) {
	p := &d.pasts[location]
	for p.settled < len(p.pending) && p.pending[p.settled].End <= until {
		w := p.pending[p.settled]
		if p.settled++; 2*p.settled >= len(p.pending) {
			p.pending, p.settled = p.pending[:copy(p.pending, p.pending[p.settled:])], 0
		}
		d.settle(int(w.Cause), w.Came) // the cause may have waited itself, in the same call
		d.explain(location, w)
	}
}

// explain finds the delays that caused a wait.
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
	// in the time of the cause, which is the same for all that waited for it
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

// mayBegin returns the earliest permitted start of an interval that ends at given times of two
// locations, by the bounds of work.
func (d *Delays) mayBegin(own *past, ownEnd int64, other *past, otherEnd int64) int64 {
	may := max(minSpansPerWait, d.unspent/2)
	begin := int64(math.MinInt64)
	if n := own.begun(ownEnd) - may; n > 0 {
		begin = own.startOf(n)
	}
	if n := other.begun(otherEnd) - may; n > 0 {
		begin = max(begin, other.startOf(n))
	}
	return begin
}

// begun returns the number of spans that begin before t. The spans of a slab are added before its
// waits are attributed.
func (p *past) begun(t int64) int {
	if p.start >= t {
		return 0
	}
	return min(len(p.spans), 1+sort.Search(len(p.spans), func(i int) bool { return p.spans[i].end >= t }))
}

// add adds the activities of a location between two times, except waiting, to the sums, with a
// sign.
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

// inStep returns the last time before t at which both were in step, MinInt64 if there is none.
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

// inStep adds a step. Steps come nearly in order of time.
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
