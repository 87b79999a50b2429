package recorder

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// recorderOf works off everything that was written.
func recorderOf(s *fakeShim) *Recorder {
	r := New(s.process)
	r.consume(sourcesOf(s, r, true))
	return r
}

func sourcesOf(s *fakeShim, r *Recorder, ended bool) []*source {
	var sources []*source
	for n := range uint32(len(s.threads)) {
		t := s.threads[n]
		seg := &record.Buffer{Thread: n, Sequence: t.sequence, Words: t.words}
		sources = append(sources, &source{
			thread: r.thread(n), segments: []*record.Buffer{seg}, closed: ended, ended: ended,
		})
	}
	return sources
}

func contentOf(s *fakeShim) *trace.Content { return inMemory(s.t)(recorderOf(s).Content()) }
