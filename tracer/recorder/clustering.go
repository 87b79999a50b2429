package recorder

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Clustering while the process runs (package online; docs/decisions/0060-online-clustering.md):
//
//   - At a marker the shim writes a record that ends an interval, and asks for the rank's ballot.
//   - At a later marker it starts the vote of the ranks, with the ballot if it is there.
//   - At the marker after that it writes the outcome as a record. So the recorder's state still
//     follows from records alone, and a recovery computes the same state.
//   - While another rank leads, the times of an interval are buffered in separate columns. The
//     outcome of the vote on the interval decides whether they are kept or only their sums
//     (trace.Extrapolation).

// A tally is the clustering state of a thread: hashes to compare, and the buffered times of the
// current and the closed interval.
type tally struct {
	online.Tally
	now, closed columns // times that may yet be dropped
}

// Ballot returns the rank's ballot about the interval that a cut ended; ok is false if there is no
// such cut, or it has its outcome.
func (r *Recorder) Ballot(cut uint64) (b online.Ballot, ok bool) {
	return r.clustering.Ballot(cut, r.tallies(), r.grids.settings.Mode != timing.Aggregated)
}

// tallies returns the threads of the process with their clustering states; none without clustering.
func (r *Recorder) tallies() []online.Thread {
	if r.clustering == nil {
		return nil
	}
	threads := make([]online.Thread, len(r.threads))
	for i, t := range r.threads.byNumber() {
		threads[i] = online.Thread{Number: t.number, Calls: t.calls, Tally: &t.tally.Tally}
	}
	return threads
}

// codeOf returns the part of a terminal that is compared between ranks.
func (r *Recorder) codeOf(number int32) uint64 {
	if code := r.clustering.Code(number); code != 0 {
		return code
	}
	function, site := r.keys.CallSite(number)
	sites := r.sites.List()
	var path []*trace.Site
	for ; site > 0 && site <= uint64(len(sites)); site = uint64(sites[site-1].Caller) {
		path = append(path, &sites[site-1])
		if r.process.CallSites != "path" {
			break // callers are for the final merge, which finds wrappers
		}
	}
	return r.clustering.Describe(number, function, path)
}

// addToTally adds a call, its gap and duration, to the thread's interval. It reports whether the
// tally buffers the call's times.
func (t *thread) addToTally(number int32, marker bool, call []int64) bool {
	r, y := t.recorder, t.tally
	switch r.clustering.Add(&y.Tally, number, r.codeOf(number), marker, call[0], call[1]) {
	case online.Wait:
		y.now.push(call)
		return true
	case online.Overflow:
		t.keep(&y.closed)
		t.keep(&y.now)
	}
	return false
}

// applyVoteStep processes the record of a step of a vote, in which the thread took
// part for the rank.
func (r *Recorder) applyVoteStep(t *thread, words []uint64) {
	step, ok := online.ParseStep(words[record.HeaderWords:])
	if !ok || r.clustering == nil || step.Kind != online.StepOverhead && !r.follow(step.Vote) {
		r.lost.Malformed++
		return
	}
	switch step.Kind {
	case online.StepCut:
		r.cut()
	case online.StepOutcome:
		r.applyOutcome(&step.Outcome)
	}
	t.addOverhead(step.Overhead)
}

// follow makes vote the next one and reports whether that is possible. Skipped
// votes have no record.
func (r *Recorder) follow(vote uint64) bool {
	missing, ok := r.clustering.Missing(vote)
	for range missing {
		r.applyOutcome(nil)
	}
	return ok
}

// cut ends the interval of all threads. The outcome of the vote on it is pending.
func (r *Recorder) cut() {
	if r.clustering.Pending() { // the record of the last outcome is missing
		r.applyOutcome(nil)
	}
	for _, t := range r.threads {
		t.tally.closed, t.tally.now = t.tally.now, columns{}
	}
	r.clustering.Cut(r.tallies())
}

// applyOutcome applies the outcome of a vote; nil: its record is missing.
func (r *Recorder) applyOutcome(o *online.Outcome) {
	if !r.clustering.Pending() {
		r.cut() // the record of this cut is missing
	}
	decision := r.clustering.Decide(o, r.rank)
	for _, t := range r.threads {
		y := t.tally
		switch n := y.closed.gaps.n; {
		case decision.Settle(&y.Tally, n):
			y.closed = columns{}
		case n > 0:
			t.keep(&y.closed)
		}
		if !decision.Follows {
			t.keep(&y.now)
		}
	}
}

// keep appends buffered times to the thread's times.
func (t *thread) keep(w *columns) {
	t.gaps.join(&w.gaps)
	t.durations.join(&w.durations)
	t.closeTimes()
	*w = columns{}
}

// addOverhead records tracer overhead after the thread's last call; no gap includes it.
func (t *thread) addOverhead(ticks int64) {
	if t.calls == 0 || ticks == 0 {
		return
	}
	t.lastExit += ticks
	t.tally.AddOverhead(t.calls, ticks)
}

// timed returns the number of calls with times, measured or extrapolated from another rank.
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

// visit visits a tally. The interval before the closed one has no buffered times.
func (y *tally) visit(v checkpoint.Visitor) {
	if y == nil {
		return
	}
	times := [3]*columns{&y.now, &y.closed, {}}
	for i, n := range y.Intervals() {
		n.Visit(v)
		times[i].visit(v)
	}
	y.Visit(v)
}
