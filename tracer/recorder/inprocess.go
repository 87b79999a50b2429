package recorder

import (
	"github.com/cairn-mpi/cairn/trace/timing"
)

// RecordHeaderWords is how many words of a record stand before its arguments.
const RecordHeaderWords = recordPayload

// A Call is a call that is recorded without a shim, by a program that makes up calls of its own (a simulation). It goes
// the same way as a record of a segment: signature, grammar, streams, timing.
type Call struct {
	Function    uint16 // mpi
	Enter, Exit int64  // ticks
	Address     uint64 // of the call site
	Result      int64  // return value
	// Words are RecordHeaderWords words, which Record overwrites, then inputs, outputs and extras as in a record
	// (docs/decisions/0001-seams.md, "Raw records").
	Words []uint64
}

// Record records a call of a thread.
func (r *Recorder) Record(thread uint32, c *Call) {
	clear(c.Words[:recordPayload])
	c.Words[recordEnter], c.Words[recordExit] = uint64(c.Enter), uint64(c.Exit)
	c.Words[recordAddress], c.Words[recordReturn] = c.Address, uint64(c.Result)
	c.Words[recordLength] = join(uint32(len(c.Words)*8), uint32(c.Function))
	r.record(r.thread(thread), record{words: c.Words, function: c.Function})
}

// Sample records a reading of the clocks, as the header of a segment has it.
func (r *Recorder) Sample(s timing.ClockSample) { r.addSample(s) }
