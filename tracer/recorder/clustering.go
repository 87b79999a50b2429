package recorder

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Clustering while the process runs (package online; docs/decisions/0060-online-clustering.md). At a marker the shim writes a
// record that ends an interval, asks for the rank's ballot, and lets the ranks vote; at a later marker it writes the outcome,
// as a record too: so the recorder's state follows from records alone, as ever, and a recovery finds the same. Of an interval
// in which another rank leads, the times wait in columns of their own: the outcome of the vote on it says whether they are kept
// or only their sums are (trace.Extrapolation).

// A tally is what is compared of a thread, and the times that wait: of the interval that goes on, and of the one that was closed.
type tally struct {
	online.Tally
	now, closed waiting
}

// waiting are times of which it is not decided yet whether they are kept.
type waiting struct{ gaps, durations column }

// Ballot is what the rank says at the marker that it came to last.
func (r *Recorder) Ballot() online.Ballot { return r.clustering.Ballot() }

// codeOf is what of the calls of a terminal is compared between ranks.
func (r *Recorder) codeOf(number int32) uint64 {
	if code := r.clustering.Code(number); code != 0 {
		return code
	}
	k := keyScanner{key: r.signatures.terminals[number].key}
	function, site := k.uvarint(), int(k.uvarint())
	var path []*trace.Site
	for ; site > 0 && site <= len(r.sites.list); site = int(r.sites.list[site-1].Caller) {
		path = append(path, &r.sites.list[site-1])
	}
	return r.clustering.Describe(number, function, path)
}

// tallied adds a call to the thread's interval. It reports whether the times wait there.
func (t *thread) tallied(number int32, marker bool, gap, duration int64) bool {
	r, y := t.recorder, t.tally
	switch r.clustering.Add(&y.Tally, number, r.codeOf(number), marker, gap, duration) {
	case online.Wait:
		y.now.gaps.push(gap)
		y.now.durations.push(duration)
		return true
	case online.Overflow:
		t.keep(&y.closed)
		t.keep(&y.now)
	}
	return false
}

// voted takes the record of a step of a vote, in which a thread took part for the rank.
func (r *Recorder) voted(t *thread, words []uint64) {
	step, ok := online.ParseStep(words[record.HeaderWords:])
	if !ok || r.clustering == nil || step.Kind != online.StepOverhead && !r.follow(step.Vote) {
		r.lost.Malformed++
		return
	}
	switch step.Kind {
	case online.StepCut:
		r.cut()
	case online.StepOutcome:
		if !r.clustering.Awaited() {
			r.cut() // of which there is no record
		}
		r.decided(&step.Outcome)
	}
	t.addOverhead(step.Overhead)
}

// follow makes a vote the next one; false if it cannot be. Of those that were passed over there is no record.
func (r *Recorder) follow(vote uint64) bool {
	missing, ok := r.clustering.Missing(vote)
	for range missing {
		if !r.clustering.Awaited() {
			r.cut()
		}
		r.decided(nil)
	}
	return ok
}

// cut ends the interval of all threads. The outcome of the vote on it is awaited.
func (r *Recorder) cut() {
	if r.clustering.Awaited() { // of the outcome there is no record
		r.decided(nil)
	}
	threads := make([]online.Thread, len(r.threads))
	for i, t := range r.byNumber() {
		threads[i] = online.Thread{Number: t.number, Calls: t.calls, Tally: &t.tally.Tally}
		t.tally.closed, t.tally.now = t.tally.now, waiting{}
	}
	r.clustering.Cut(threads, r.grids.settings.Mode != timing.Aggregated)
}

// decided takes the outcome of a vote; nil: there is no record of it.
func (r *Recorder) decided(o *online.Outcome) {
	decision := r.clustering.Decide(o, r.rank)
	for _, t := range r.threads {
		y := t.tally
		switch n := y.closed.gaps.n; {
		case decision.Settle(&y.Tally, n):
			y.closed = waiting{}
		case n > 0:
			t.keep(&y.closed)
		}
		if !decision.Follows {
			t.keep(&y.now)
		}
	}
}

// keep puts times that wait where those are that are kept.
func (t *thread) keep(w *waiting) {
	t.gaps.join(&w.gaps)
	t.durations.join(&w.durations)
	t.closeTimes()
	*w = waiting{}
}

// addOverhead notes that the tracer kept the thread after its last call: no gap has that.
func (t *thread) addOverhead(ticks int64) {
	if t.calls == 0 || ticks == 0 {
		return
	}
	t.lastExit += ticks
	t.tally.AddOverhead(t.calls, ticks)
}

// timed is how many calls the thread has times of, or another rank's times that stand for them.
func (t *thread) timed() uint64 {
	n := t.blockTimes + t.gaps.n
	if y := t.tally; y != nil {
		n += y.now.gaps.n + y.closed.gaps.n
		for from, to := range y.Extrapolated() {
			n += to - from
		}
	}
	return n
}

// encode writes a tally; of the interval before the one that was closed no times wait.
func (y *tally) encode(e *checkpoint.Encoder) {
	if y == nil {
		return
	}
	times := [3]*waiting{&y.now, &y.closed, {}}
	for i, n := range y.Intervals() {
		n.Encode(e)
		times[i].gaps.encode(e)
		times[i].durations.encode(e)
	}
	y.Encode(e)
}

func (y *tally) decode(d *checkpoint.Decoder) {
	if y == nil {
		return
	}
	times := [3]*waiting{&y.now, &y.closed, {}}
	for i, n := range y.Intervals() {
		n.Decode(d)
		times[i].gaps.decode(d)
		times[i].durations.decode(d)
	}
	y.Decode(d)
}
