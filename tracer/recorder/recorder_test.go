package recorder

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// recorderOf consumes everything that was written.
func recorderOf(s *recordtest.Shim) *Recorder {
	r := New(s.Process)
	r.Consume(sourcesOf(s, r, true))
	return r
}

func sourcesOf(s *recordtest.Shim, r *Recorder, ended bool) []*Source {
	var sources []*Source
	for n := range uint32(len(s.Threads)) {
		t := s.Threads[n]
		seg := &record.Buffer{Thread: n, Sequence: t.Sequence, Words: t.Words}
		sources = append(sources, &Source{
			thread: r.thread(n), Buffers: []*record.Buffer{seg}, Closed: ended, Ended: ended,
		})
	}
	return sources
}

func contentOf(s *recordtest.Shim) *trace.Content {
	return recordtest.InMemory(s.T)(recorderOf(s).Content())
}
