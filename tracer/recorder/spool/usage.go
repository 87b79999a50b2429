package spool

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
)

// The resources that the compressor takes for a process are in a file of its directory, so that
// they are known however the process ends. How long the process's threads took to change their
// buffers is in its file of observations.
const (
	usageFile  = "took"
	usageMagic = "CAIRNTK3"
)

// usage is the content of the file.
type usage struct {
	Magic     [len(usageMagic)]byte
	Memory    uint64
	MaxMemory uint64
	MaxSpool  uint64
	Written   uint64 // bytes of blocks, tables and states
	CPU       uint64 // CPU time of the steps, in ns
}

// threadTime returns the CPU time of the calling thread in ns.
func threadTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // of the own thread: it cannot fail
	return t.Nano()
}

// noteUsage updates the file. If there is none, nothing is known of the compressor's resources.
func (w *Writer) noteUsage() {
	u := &w.usage
	copy(u.Magic[:], usageMagic)
	u.Memory = uint64(w.recorder.Memory())
	u.MaxMemory = max(u.MaxMemory, u.Memory)
	u.MaxSpool = max(u.MaxSpool, uint64(max(w.inBuffers+w.onDisk(), 0)))
	b, _ := binary.Append(nil, binary.NativeEndian, u)
	_ = w.directory.overwrite(usageFile, b, 0)
}

// resumeUsage reads what an earlier compressor took.
func (w *Writer) resumeUsage() {
	b, err := w.directory.read(usageFile, 1<<20)
	if took := decodeUsage(b); err == nil && took != nil {
		w.usage = *took
	}
}

// decodeUsage decodes the file's content; nil if its format is unknown.
func decodeUsage(b []byte) *usage {
	var u usage
	if _, err := binary.Decode(b, binary.NativeEndian, &u); err != nil || string(u.Magic[:]) != usageMagic {
		return nil
	}
	return &u
}

// ofTracer returns the usage as a trace has it, with what its process observed.
func (u *usage) ofTracer(s observed.Switches) *trace.TracerUsage {
	number := func(word uint64) int64 { return int64(min(word, 1<<60)) }
	return &trace.TracerUsage{
		MemoryBytes: number(u.Memory), MostMemory: number(u.MaxMemory), MostSpool: number(u.MaxSpool), WrittenBytes: number(u.Written),
		Stalls: s.Count, StalledNS: s.TotalNS, LongestStallNS: s.LongestNS, CPUNS: number(u.CPU),
	}
}
