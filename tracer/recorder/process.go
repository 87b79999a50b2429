package recorder

import (
	"fmt"
	"slices"

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
	left            uint64 // calls that never returned, though the process went on
	began           uint64 // threads that go on where others have ended
	notes           []string
	life            observed.Life // of a process that has ended
}

// lost counts what could not be recorded.
type lost struct {
	Dropped   uint64 // by the shim: no room, or in a signal handler
	Malformed uint64 // records that could not be decoded
	Truncated uint64 // calls whose arguments did not fit
	Abandoned uint64 // open records in buffers that their threads had filled
}

// AddNote adds a note unless it was added before.
func (p *processState) AddNote(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(p.notes, note) {
		p.notes = append(p.notes, note)
	}
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

func (p *processState) visit(v checkpoint.Visitor) {
	checkpoint.Int(v, &p.rank, &p.worldSize)
	v.Bool(&p.finalized, &p.off)
	checkpoint.Int(v, &p.sessions)
	checkpoint.List(v, &p.samples, func(s *timing.ClockSample) { checkpoint.Int(v, &s.Ticks, &s.MonotonicNS, &s.RealtimeNS) })
	checkpoint.Uint(v, &p.lost.Dropped, &p.lost.Malformed, &p.lost.Truncated, &p.lost.Abandoned, &p.left, &p.began)
}
