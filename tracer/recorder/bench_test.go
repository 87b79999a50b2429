package recorder

import (
	"testing"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// benchmark measures the cost of a program per call, from raw record to grammar,
// streams and timing.
func benchmark(b *testing.B, program func(s *recordtest.Shim)) {
	s := recordtest.NewShim(b)
	s.Process.Timing = "lossy"
	s.Init(0, 4)
	program(s) // meets everything
	warm := len(s.Thread(0).Words)
	for range 64 {
		program(s)
	}
	r := New(s.Process)
	b.ReportAllocs()
	seg := &record.Buffer{Words: s.Thread(0).Words[:warm]}
	seg.Words[record.HeaderUsed] = uint64(warm-record.BufferHeaderWords) * 8
	r.Consume([]*Source{{thread: r.thread(0), Buffers: []*record.Buffer{seg}, Closed: true}})
	rest, _ := recordtest.Shorten(nil, append(recordtest.NewBuffer(0, 1), s.Thread(0).Words[warm:]...))
	before := r.Calls()
	start := recordtest.CPUTime(b)
	b.ResetTimer()
	for b.Loop() {
		t := r.thread(0)
		t.sequence, t.offset = 1, 0
		r.Consume([]*Source{{thread: t, Buffers: []*record.Buffer{{Sequence: 1, Words: rest}}, Closed: true}})
	}
	b.StopTimer()
	calls := r.Calls() - before
	// CPU time, so that the result is valid on a busy machine
	b.ReportMetric(float64(recordtest.CPUTime(b)-start)/float64(calls), "cpu-ns/call")
	b.ReportMetric(float64(len(r.AppendState(nil)))/float64(r.Calls()), "state-bytes/call")
}

func BenchmarkBarrier(b *testing.B) {
	benchmark(b, func(s *recordtest.Shim) {
		for range 8 {
			s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
		}
	})
}

func BenchmarkRecvWildcard(b *testing.B) {
	k := int64(0)
	benchmark(b, func(s *recordtest.Shim) {
		for range 8 {
			k++
			s.Call(0, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: k * 7 % 4, Tag: 7, Bytes: 4})
		}
	})
}

// Sizes that hardly ever come again: the key of each call is widened.
func BenchmarkSendOfAnySize(b *testing.B) {
	k := int64(0)
	benchmark(b, func(s *recordtest.Shim) {
		for range 8 {
			k++
			s.Call(0, "MPI_Send", 0, 0x10, k*7919%100_003, recordtest.TypeInt, 1, 7, recordtest.CommWorld)
		}
	})
}

func BenchmarkStencil(b *testing.B) {
	benchmark(b, func(s *recordtest.Shim) {
		var raw recordtest.List
		for k := range int64(4) {
			s.CallAt(0, 0x401100, "MPI_Irecv", 0, 1, recordtest.TypeInt, k, 7, recordtest.CommWorld, 0x10, 1000+k)
			raw = append(raw, 1000+k)
		}
		for k := range int64(4) {
			s.CallAt(0, 0x401200, "MPI_Isend", 0, 0x10, 1, recordtest.TypeInt, k, 7, recordtest.CommWorld, 0x6c000000)
			raw = append(raw, 0x6c000000)
		}
		s.Waitall(raw)
		s.Call(0, "MPI_Allreduce", 0, 0x10, 1, recordtest.TypeInt, 0x58000003, recordtest.CommWorld, 0x20)
	})
}
