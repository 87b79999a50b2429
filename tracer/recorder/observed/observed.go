package observed

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// Everything that the shim observes of a process other than calls is in one file
// (tracer/shim/evidence/observed.h): life, context and evidence, each at its own offset. If the
// spool was almost full the file ends after the life.
const (
	FileName = "observed"
	MaxBytes = 16 << 20
)

// A Content is the content of the file, empty if there was none.
type Content []byte

// Life returns the process's life, the zero value if the format is unknown.
func (o Content) Life() Life { return decodeLife(o.upTo(rawlayout.ObservedContext)) }

// Switches returns how often the process's threads changed their record buffers, and how long that
// took.
func (o Content) Switches() (s Switches) {
	word := words(o[min(rawlayout.ObservedRing, len(o)):], rawlayout.RingMagic, rawlayout.RingBytes)
	if word == nil {
		return s
	}
	limited := func(at int) int64 { return int64(min(uint64(word(at)), 1<<60)) }
	return Switches{limited(rawlayout.RingSwitchesAt), limited(rawlayout.RingSwitchingNSAt), limited(rawlayout.RingLongestNSAt)}
}

// Switches are changes of record buffers: how many, how long in sum and at most.
type Switches struct{ Count, TotalNS, LongestNS int64 }

// Context returns the samples of what the operating system counts, nil if the format is unknown.
func (o Content) Context() []trace.ContextSample {
	return decodeContext(o.upTo(rawlayout.ObservedEvidence)[len(o.upTo(rawlayout.ObservedContext)):])
}

// Evidence returns the measurements of long computations and calls, nil if the format is unknown.
// site returns the call site for the address in a record.
func (o Content) Evidence(site func(word uint64) int32) *evidence {
	return decodeEvidence(o[len(o.upTo(rawlayout.ObservedEvidence)):], site)
}

func (o Content) upTo(end int) []byte { return o[:min(end, len(o))] }

// words returns the words of a part of the file by their offsets; nil if the format is unknown.
func words(b []byte, magic string, size int) func(at int) int64 {
	if len(b) < size || string(b[:len(magic)]) != magic {
		return nil
	}
	return func(at int) int64 { return int64(binary.NativeEndian.Uint64(b[at:])) }
}
