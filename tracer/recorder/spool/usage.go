package spool

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace"
)

// The resources that the compressor takes for a process are in a file of its directory, so that
// they are known however the process ends. The file consists of words, the first of which
// identifies it. How long the process's threads took to change their buffers is in its file of
// observations.
const (
	usageFile  = "took"
	usageMagic = "CAIRNTK2"
	usageBytes = usageWords * 8
)

const (
	usageMemory = 1 + iota
	usageMaxMemory
	usageMaxSpool
	usageWritten
	usageWords
)

// usage is the content of the file.
type usage [usageWords]uint64

// noteUsage updates the file. If there is none, nothing is known of the compressor's resources.
func (w *Writer) noteUsage() {
	u := &w.usage
	u[0] = binary.NativeEndian.Uint64([]byte(usageMagic))
	u[usageMemory] = uint64(w.recorder.Memory())
	u[usageMaxMemory] = max(u[usageMaxMemory], u[usageMemory])
	u[usageMaxSpool] = max(u[usageMaxSpool], uint64(max(w.inBuffers+w.diskBytes+w.stateDisk[0]+w.stateDisk[1], 0)))
	u[usageWritten] = uint64(w.written)
	var b []byte
	for _, word := range u {
		b = binary.NativeEndian.AppendUint64(b, word)
	}
	_ = w.directory.overwrite(usageFile, b)
}

// resumeUsage reads what an earlier compressor took.
func (w *Writer) resumeUsage() {
	b, err := w.directory.read(usageFile, 1<<20)
	if err != nil || decodeUsage(b) == nil {
		return
	}
	for i := range w.usage {
		w.usage[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	w.written = int64(w.usage[usageWritten])
}

// decodeUsage decodes the file's content; nil if its format is unknown.
func decodeUsage(b []byte) *trace.TracerUsage {
	if len(b) < usageBytes || string(b[:len(usageMagic)]) != usageMagic {
		return nil
	}
	word := func(i int) int64 { return int64(min(binary.NativeEndian.Uint64(b[8*i:]), 1<<60)) }
	return &trace.TracerUsage{
		MemoryBytes: word(usageMemory), MostMemory: word(usageMaxMemory), MostSpool: word(usageMaxSpool), WrittenBytes: word(usageWritten),
	}
}
