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
	tookFile  = "took"
	tookMagic = "CAIRNTK1"
	tookBytes = tookWords * 8
)

const (
	tookStalls = 1 + iota
	tookStalledNS
	tookLongestNS
	tookMemory
	tookMostMemory
	tookMostSpool
	tookWritten
	tookWords
)

// Stalls are the times that threads of the program waited for a free segment.
type Stalls struct {
	Count, TotalNS, LongestNS uint64
}

// Took notes what tracing has taken so far. Of a spool for which it is never called nothing is known.
func (s *Spool) Took(stalls Stalls) {
	if s.took == nil {
		data, err := mapNew(filepath.Join(s.dir, tookFile), int64(os.Getpagesize()))
		if err != nil {
			s.took = make([]uint64, tookWords) // it is told nobody
		} else {
			s.took = record.WordsOf(data)
		}
		s.measured = math.MaxUint64
	}
	set := func(word int, value uint64) { atomic.StoreUint64(&s.took[word], value) }
	most := func(word int, value uint64) { set(word, max(s.took[word], value)) }
	set(tookStalls, stalls.Count)
	set(tookStalledNS, stalls.TotalNS)
	set(tookLongestNS, stalls.LongestNS)
	most(tookMostSpool, uint64(max(s.diskBytes+s.stateDisk[0]+s.stateDisk[1], 0)))
	set(tookWritten, uint64(s.written))
	if s.measured != s.checkpoints { // it takes some microseconds, and changes with checkpoints
		s.measured = s.checkpoints
		memory := runtimeMemory()
		set(tookMemory, memory)
		most(tookMostMemory, memory)
	}
	set(0, binary.NativeEndian.Uint64([]byte(tookMagic)))
}

// runtimeMemory is what the Go runtime has of the system, bytes: heap, stacks and its own, in use or about to be used again.
func runtimeMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// decodeTook reads the file's content; nil for something else.
func decodeTook(b []byte) *trace.TracerUsage {
	if len(b) < tookBytes || string(b[:len(tookMagic)]) != tookMagic {
		return nil
	}
	word := func(i int) int64 { return int64(min(binary.NativeEndian.Uint64(b[8*i:]), 1<<60)) }
	return &trace.TracerUsage{
		Stalls: word(tookStalls), StalledNS: word(tookStalledNS), LongestStallNS: word(tookLongestNS), MemoryBytes: word(tookMemory),
		MostMemory: word(tookMostMemory), MostSpool: word(tookMostSpool), WrittenBytes: word(tookWritten),
	}
}
