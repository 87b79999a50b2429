package recorder

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// unfinished records the call that a process was in when it ended, with its inputs. Its outputs and
// its result are absent, which distinguishes it from all other calls. It lasts until the process
// was last known to be alive.
func (r *Recorder) unfinished(t *thread, rec record.Record) {
	l := layoutFor(rec.Function)
	if l == nil {
		r.lost.Malformed++
		return
	}
	t.latest = nil
	t.loop.forget()
	s := &r.scratch
	s.values, s.lengths, s.named = s.values[:0], s.lengths[:0], s.named[:0]
	r.objects.Requests.Begin(t.number)
	c := call{layout: l, words: rec.Words, atRoot: true, newID: none, failed: true, in: s.in, out: s.out}
	rd := record.Reader{Words: rec.Words, At: record.HeaderWords, OK: true}
	for i := range l.params {
		if p := &l.params[i]; p.in {
			c.in[i] = int32(rd.At)
			pass(&rd, p.shape)
		}
		c.out[i] = c.in[i] // the record has nothing else
	}
	whole := rd.OK && rec.Flags&record.FlagTruncated == 0
	own := int32(none)
	if whole && l.comm >= 0 {
		if c.comm = r.objects.UseCommunicator(c.words[c.in[l.comm]]); c.comm != nil {
			own = c.comm.Own
			if l.root >= 0 {
				c.atRoot = r.objects.IsRoot(c.comm, c.words[c.in[l.root]])
			}
		}
	}
	function := uint64(rec.Function)
	if t.untraced {
		function |= untracedKey
	}
	key := binary.AppendUvarint(s.key[:0], function)
	key = binary.AppendUvarint(key, uint64(r.sites.of(rec.Words[record.AddressWord])))
	key = binary.AppendVarint(key, int64(own))
	key = appendForm(key, trace.Absent)
	for i := range l.params {
		p := &l.params[i]
		// MPI_IN_PLACE as an output-only buffer is recorded after the call
		unsure := p.spec.UnlessInPlace != 0 && !l.params[p.spec.UnlessInPlace-1].in
		switch {
		case p.in && whole && !unsure:
			key = r.inValue(key, &c, i)
		case p.in:
			key = appendForm(key, trace.Absent)
		}
	}
	for i := range l.params {
		if l.params[i].out {
			key = appendForm(key, trace.Absent)
		}
	}
	key = append(key, 0) // it creates no communicator
	s.key = key
	if !whole {
		r.lost.Truncated++
	}
	number := r.signatures.terminal(key)
	// a record can be published just before the clock is read
	enter := int64(rec.Enter)
	if last := r.life.Last(t.lastExit); enter < t.lastExit || enter > last && r.life.Alive != 0 {
		enter = min(max(enter, t.lastExit), last)
	}
	t.inFlight, t.entered = rec.Function, enter
	rec.Enter, rec.Exit = uint64(enter), uint64(r.life.Last(enter))
	t.append(number, rec)
	t.returned(number, s)
}

// End returns how the process ended, nil if it left no information.
func (r *Recorder) End() *trace.End {
	l := &r.life
	if l.Alive == 0 {
		return nil
	}
	e := &trace.End{Ticks: l.Last(0), ExitCode: -1}
	called := int64(0) // the last time that the program entered or left a call
	for _, t := range r.threads {
		if t.calls == 0 {
			continue
		}
		e.Ticks = max(e.Ticks, t.lastExit)
		if t.inFlight != 0 {
			called = max(called, t.entered)
		} else {
			called = max(called, t.lastExit)
		}
	}
	// A later call proves that a signal handler let the program continue. (The process also stays
	// alive while a handler prints a backtrace.)
	if l.Signal != 0 && l.SignalAt >= called {
		e.Signal = int(l.Signal)
	}
	if l.Exit != 0 {
		e.ExitCode = int(l.Exit - 1)
	}
	return e
}

// EndedEarly describes the end of a process that did not get through MPI_Finalize; "" if it did.
func (r *Recorder) EndedEarly() string {
	if r.finalized {
		return ""
	}
	for _, t := range r.threads {
		if t.inFlight != 0 && !r.stopped {
			return "killed in " + mpi.ByID(t.inFlight).Name
		}
	}
	var last *thread
	for _, t := range r.threads {
		if t.calls > 0 && (last == nil || t.lastExit > last.lastExit) {
			last = t
		}
	}
	if last == nil {
		return "before MPI_Init"
	}
	if !r.stopped {
		return "after " + mpi.ByID(last.lastFunction).Name
	}
	text := trace.TracingStopped
	if r.life.Counted && r.life.Finalized == 0 { // it has ended, and would have been counted
		text = trace.EndedUntraced
	}
	text += mpi.ByID(last.lastFunction).Name
	if r.whyStopped != "" {
		text += ": " + r.whyStopped
	}
	return text
}
