package recorder

import (
	"testing"

	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// benchmark measures what a program costs per call, from raw record to grammar, streams and timing.
func benchmark(b *testing.B, program func(s *fakeShim)) {
	s := newFakeShim(b)
	s.process.Timing = "lossy"
	s.init(0, 4)
	program(s) // meets everything
	warm := len(s.thread(0).words)
	for range 64 {
		program(s)
	}
	r := New(s.process)
	b.ReportAllocs()
	seg := &record.Buffer{Words: s.thread(0).words[:warm]}
	seg.Words[record.HeaderUsed] = uint64(warm-record.BufferHeaderWords) * 8
	r.consume([]*source{{thread: r.thread(0), segments: []*record.Buffer{seg}, closed: true}})
	rest := append(newSegmentWords(0, 1), s.thread(0).words[warm:]...)
	rest[record.HeaderUsed] = uint64(len(rest)-record.BufferHeaderWords) * 8
	before := r.Calls()
	start := cpuTime(b)
	b.ResetTimer()
	for b.Loop() {
		t := r.thread(0)
		t.sequence, t.offset = 1, 0
		r.consume([]*source{{thread: t, segments: []*record.Buffer{{Sequence: 1, Words: rest}}, closed: true}})
	}
	b.StopTimer()
	calls := r.Calls() - before
	// CPU time, so that the figure holds on a machine that does other things too
	b.ReportMetric(float64(cpuTime(b)-start)/float64(calls), "cpu-ns/call")
	b.ReportMetric(float64(len(r.AppendState(nil)))/float64(r.Calls()), "state-bytes/call")
}

func BenchmarkBarrier(b *testing.B) {
	benchmark(b, func(s *fakeShim) {
		for range 8 {
			s.call(0, "MPI_Barrier", 0, commWorld)
		}
	})
}

func BenchmarkRecvWildcard(b *testing.B) {
	k := int64(0)
	benchmark(b, func(s *fakeShim) {
		for range 8 {
			k++
			s.call(0, "MPI_Recv", 0, 1, typeInt, anySource, anyTag, commWorld, 0x10, status{source: k * 7 % 4, tag: 7, bytes: 4})
		}
	})
}

func BenchmarkStencil(b *testing.B) {
	benchmark(b, func(s *fakeShim) {
		var raw list
		for k := range int64(4) {
			s.callAt(0, 0x401100, "MPI_Irecv", 0, 1, typeInt, k, 7, commWorld, 0x10, 1000+k)
			raw = append(raw, 1000+k)
		}
		for k := range int64(4) {
			s.callAt(0, 0x401200, "MPI_Isend", 0, 0x10, 1, typeInt, k, 7, commWorld, 0x6c000000)
			raw = append(raw, 0x6c000000)
		}
		s.waitall(raw)
		s.call(0, "MPI_Allreduce", 0, 0x10, 1, typeInt, 0x58000003, commWorld, 0x20)
	})
}
