package recorder

import (
	"fmt"

	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/clock"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
)

// A processState is what is known of the process beside its calls.
type processState struct {
	rank, worldSize int // −1: not known yet
	sessions        int // open sessions
	finalized       bool
	off             bool // MPI_Pcontrol, or from the start: only lifetimes of handles are recorded
	stopped         bool // tracing ended before the process did
	whyStopped      string
	samples         []timing.ClockSample
	lost            lost
	notes           []string
	life            observed.Life // of a process that has ended
}

// lost counts what could not be recorded.
type lost struct {
	Dropped   uint64 // by the shim: no room, or in a signal handler
	Malformed uint64 // records that could not be decoded
	Truncated uint64 // calls whose arguments did not fit
	Abandoned uint64 // calls that never returned although their thread continued (longjmp, C++ exceptions)
}

// AddNote adds a note unless it was added before.
func (p *processState) AddNote(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	for _, n := range p.notes {
		if n == note {
			return
		}
	}
	p.notes = append(p.notes, note)
}

// NoteStopped adds a note that the process stopped tracing, and why.
func (p *processState) NoteStopped(why string) {
	p.AddNote("tracing stopped: %s", why)
	p.stopped, p.whyStopped = true, why
}

// LostCalls returns the number of calls that are known to be missing.
func (p *processState) LostCalls() uint64 { return p.lost.Dropped + p.lost.Malformed }

// Sample records a sample of the clocks, as in the header of a buffer.
func (p *processState) Sample(s timing.ClockSample) { p.samples = clock.Append(p.samples, s) }

// maxWorld is the largest world size that is accepted from a record, which may be damaged.
const maxWorld = 1 << 30

// setRank sets the process's rank to what a record says, and reports whether that is possible.
func (p *processState) setRank(rank, size uint64) bool {
	if size > maxWorld || rank >= size {
		return false
	}
	p.rank, p.worldSize = int(rank), int(size)
	return true
}

func (p *processState) encode(e *checkpoint.Encoder) {
	e.Int(int64(p.rank))
	e.Int(int64(p.worldSize))
	e.Bool(p.finalized)
	e.Bool(p.off)
	e.Int(int64(p.sessions))
	e.Uint(uint64(len(p.samples)))
	for _, s := range p.samples {
		e.Int(s.Ticks)
		e.Int(s.MonotonicNS)
		e.Int(s.RealtimeNS)
	}
	e.Uint(p.lost.Dropped)
	e.Uint(p.lost.Malformed)
	e.Uint(p.lost.Truncated)
	e.Uint(p.lost.Abandoned)
}

func (p *processState) decode(d *checkpoint.Decoder) {
	p.rank, p.worldSize = int(d.Int()), int(d.Int())
	p.finalized = d.Bool()
	p.off = d.Bool()
	p.sessions = int(d.Int())
	for range d.Count() {
		p.samples = append(p.samples, timing.ClockSample{Ticks: d.Int(), MonotonicNS: d.Int(), RealtimeNS: d.Int()})
	}
	p.lost = lost{Dropped: d.Uint(), Malformed: d.Uint(), Truncated: d.Uint(), Abandoned: d.Uint()}
}

func (p *processState) encodeNotes(e *checkpoint.Encoder) {
	e.Uint(uint64(len(p.notes)))
	for _, n := range p.notes {
		e.Text(n)
	}
}

func (p *processState) decodeNotes(d *checkpoint.Decoder) {
	for range d.Count() {
		p.notes = append(p.notes, d.Text())
	}
}
