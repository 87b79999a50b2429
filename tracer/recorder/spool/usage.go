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

// What tracing takes of a process is in a mapped file of its directory, so that it is known however the process ends. It is
// words, of which the first one says what the file is and comes last.
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

// Stalls are the times that threads of the program waited for a free buffer.
type Stalls struct {
	Count, TotalNS, LongestNS uint64
}

// NoteUsage notes what tracing has taken so far. Of a spool for which it is never called nothing is known.
func (s *Spool) NoteUsage(stalls Stalls) {
	if s.usage == nil {
		data, err := mapNew(filepath.Join(s.dir, usageFile), int64(os.Getpagesize()))
		if err != nil {
			s.usage = make([]uint64, usageWords) // it is told nobody
		} else {
			s.usage = record.WordsOf(data)
		}
		s.measured = math.MaxUint64
	}
	set := func(word int, value uint64) { atomic.StoreUint64(&s.usage[word], value) }
	most := func(word int, value uint64) { set(word, max(s.usage[word], value)) }
	set(usageStalls, stalls.Count)
	set(usageStalledNS, stalls.TotalNS)
	set(usageLongestNS, stalls.LongestNS)
	most(usageMaxSpool, uint64(max(s.diskBytes+s.stateDisk[0]+s.stateDisk[1], 0)))
	set(usageWritten, uint64(s.written))
	if s.measured != s.checkpoints { // it takes some microseconds, and changes with checkpoints
		s.measured = s.checkpoints
		memory := runtimeMemory()
		set(usageMemory, memory)
		most(usageMaxMemory, memory)
	}
	set(0, binary.NativeEndian.Uint64([]byte(usageMagic)))
}

// runtimeMemory is what the Go runtime has of the system, bytes: heap, stacks and its own, in use or about to be used again.
func runtimeMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// decodeUsage reads the file's content; nil for something else.
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
