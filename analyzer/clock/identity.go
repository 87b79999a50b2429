package clock

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// identity identifies the trace of a run, so that a clock map is not used for another trace at the
// same path. It is a hash of the world's name and of each thread's calls, ticks and clock samples.
func identity(t timeline.Trace) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.Meta().World)) // a hash never fails
	var word [8]byte
	add := func(values ...int64) {
		for _, v := range values {
			binary.LittleEndian.PutUint64(word[:], uint64(v))
			_, _ = h.Write(word[:])
		}
	}
	for _, r := range t.Ranks().All() {
		add(int64(r.Rank))
		for _, s := range r.Clock.Samples {
			add(s.Ticks, s.MonotonicNS, s.RealtimeNS)
		}
	}
	for _, thread := range t.Threads().All() {
		add(int64(thread.Rank), int64(thread.Thread), int64(thread.Calls), thread.FirstTick, thread.EndTick)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
