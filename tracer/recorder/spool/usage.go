package spool

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime/metrics"
	"sync/atomic"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// The resources that tracing takes in a process are in a mapped file of its directory, so that they
// are known however the process ends. The file consists of words. The first one identifies the
// file; it is written last.
const (
	usageFile  = "took"
	usageMagic = "CAIRNTK1"
	usageBytes = usageWords * 8
)

const (
	usageStalls = 1 + iota
	usageStalledNS
	usageLongestNS
	usageMemory
	usageMaxMemory
	usageMaxSpool
	usageWritten
	usageWords
)

// Stalls are the waits of the program's threads for a free buffer.
type Stalls struct {
	Count, TotalNS, LongestNS uint64
}

// NoteUsage updates the file. If it is never called, nothing is known of the spool's resources.
func (s *Spool) NoteUsage(stalls Stalls) {
	if s.usage == nil {
		data, err := mapNew(filepath.Join(s.dir, usageFile), int64(os.Getpagesize()))
		if err != nil {
			s.usage = make([]uint64, usageWords) // written to nowhere
		} else {
			s.usage = record.WordsOf(data)
		}
		s.measured = math.MaxUint64
	}
	set := func(word int, value uint64) { atomic.StoreUint64(&s.usage[word], value) }
	setMax := func(word int, value uint64) { set(word, max(s.usage[word], value)) }
	set(usageStalls, stalls.Count)
	set(usageStalledNS, stalls.TotalNS)
	set(usageLongestNS, stalls.LongestNS)
	setMax(usageMaxSpool, uint64(max(s.diskBytes+s.stateDisk[0]+s.stateDisk[1], 0)))
	set(usageWritten, uint64(s.written))
	// it takes some microseconds, and only checkpoints change it much
	if s.measured != s.checkpoints {
		s.measured = s.checkpoints
		memory := runtimeMemory()
		set(usageMemory, memory)
		setMax(usageMaxMemory, memory)
	}
	set(0, binary.NativeEndian.Uint64([]byte(usageMagic)))
}

// runtimeMemory returns the bytes that the Go runtime has from the system and has not returned:
// heap, stacks and its own.
func runtimeMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// decodeUsage decodes the file's content; nil if its format is unknown.
func decodeUsage(b []byte) *trace.TracerUsage {
	if len(b) < usageBytes || string(b[:len(usageMagic)]) != usageMagic {
		return nil
	}
	word := func(i int) int64 { return int64(min(binary.NativeEndian.Uint64(b[8*i:]), 1<<60)) }
	return &trace.TracerUsage{
		Stalls: word(usageStalls), StalledNS: word(usageStalledNS), LongestStallNS: word(usageLongestNS), MemoryBytes: word(usageMemory),
		MostMemory: word(usageMaxMemory), MostSpool: word(usageMaxSpool), WrittenBytes: word(usageWritten),
	}
}
