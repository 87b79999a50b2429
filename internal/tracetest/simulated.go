package tracetest

import (
	"bytes"
	"testing"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// Simulated returns the merged trace of a simulated program.
func Simulated(t testing.TB, config simulate.Config) *trace.Content {
	t.Helper()
	s, err := simulate.New(config)
	if err != nil {
		t.Fatalf("tracetest: %v", err)
	}
	return Merged(t, s)
}

// Merged returns the merged trace of a simulation.
func Merged(t testing.TB, s *simulate.Simulation) *trace.Content {
	t.Helper()
	contents, err := s.Contents()
	if err != nil {
		t.Fatalf("tracetest: %v", err)
	}
	merged, err := merger.Merge(contents, merger.Options{Final: true})
	if err != nil {
		t.Fatalf("tracetest: %v", err)
	}
	return InMemory(t, merged)
}

// InMemory decodes the times of a trace, so that a test can change them.
func InMemory(t testing.TB, c *trace.Content) *trace.Content {
	t.Helper()
	var threads trace.ThreadTable
	for _, thread := range c.Threads.All() {
		var err error
		if thread.Gaps, thread.Durations, err = thread.Times(); err != nil {
			t.Fatalf("tracetest: %v", err)
		}
		thread.Timing = nil
		threads.Append(thread)
	}
	c.Threads = threads
	return c
}

// Open writes a trace to memory and opens it.
func Open(t testing.TB, content *trace.Content) *trace.Reader {
	t.Helper()
	var file bytes.Buffer
	if err := trace.Write(&file, content); err != nil {
		t.Fatalf("tracetest: %v", err)
	}
	r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatalf("tracetest: %v", err)
	}
	return r
}
