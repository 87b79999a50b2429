package merger

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cairn-mpi/cairn/trace"
)

// BenchmarkMerge merges the ranks of a stencil with a master into a finished
// trace; a rank has about 90 calls.
func BenchmarkMerge(b *testing.B) {
	for _, size := range []int{16, 256, 1024} {
		inputs := simulate("w", size, 10, 1)
		var calls uint64
		for _, c := range inputs {
			calls += c.Threads.At(0).Calls
		}
		b.Run(fmt.Sprintf("ranks=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			var bytesWritten int
			for b.Loop() {
				c, err := Merge(inputs, Options{Final: true})
				if err != nil {
					b.Fatal(err)
				}
				if bytesWritten == 0 {
					var out bytes.Buffer
					if err := trace.Write(&out, c); err != nil {
						b.Fatal(err)
					}
					bytesWritten = out.Len()
				}
			}
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "ranks/s")
			b.ReportMetric(float64(calls)*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
			b.ReportMetric(float64(bytesWritten), "trace-bytes")
		})
	}
}

// BenchmarkMergeShards merges shards of 64 ranks that all do the same.
func BenchmarkMergeShards(b *testing.B) {
	const size, perShard = 4096, 64
	var shards []*trace.Content
	for first := 0; first < size; first += perShard {
		var ranks []*trace.Content
		for rank := first; rank < first+perShard; rank++ {
			r := record("w", size, rank)
			r.call(trace.Signature{Function: 1, OwnRank: -1}, 0, 1)
			for range 50 {
				r.call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(8), num(rank + 1), name("MPI_COMM_WORLD")}}, 1, 1)
			}
			r.call(trace.Signature{Function: 2, OwnRank: -1}, 0, 1)
			ranks = append(ranks, r.content())
		}
		shard, err := Merge(ranks, Options{})
		if err != nil {
			b.Fatal(err)
		}
		shards = append(shards, shard)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Merge(shards, Options{Final: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "ranks/s")
}
