package analyzer_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// BenchmarkRun measures events per second from an opened trace to findings, for a stencil with halo
// exchange and reductions, and the memory in use at the end of the analysis.
func BenchmarkRun(b *testing.B) {
	for _, size := range []struct{ ranks, iterations int }{{16, 4000}, {256, 250}, {1024, 60}} {
		random := rand.New(rand.NewPCG(1, 2))
		var file bytes.Buffer
		content := tracetest.Stencil{Ranks: size.ranks, Iterations: size.iterations, Reduce: 10, Work: func(int, int) float64 {
			return 1 + 0.2*random.Float64()
		}}.Build().Content()
		if err := trace.Write(&file, content); err != nil {
			b.Fatal(err)
		}
		calls := uint64(0)
		for _, t := range content.Threads.All() {
			calls += t.Calls
		}
		content = nil
		for _, set := range analyses.Sets {
			name := set.Name
			b.Run(fmt.Sprintf("%s/%d-ranks", name, size.ranks), func(b *testing.B) {
				r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := analyzer.Run(context.Background(), r, nil, name); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(calls)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
		b.Run(fmt.Sprintf("report/%d-ranks", size.ranks), func(b *testing.B) {
			r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err != nil {
				b.Fatal(err)
			}
			findings, _, err := analyzer.Run(context.Background(), r, nil)
			if err != nil {
				b.Fatal(err)
			}
			bytesOfPage := 0
			for b.Loop() {
				files, err := analyzer.Report(r, findings, report.Job{}).Files()
				if err != nil {
					b.Fatal(err)
				}
				bytesOfPage = len(files["index.html"])
			}
			b.ReportMetric(float64(bytesOfPage), "page-bytes")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-process")
		})
	}
}
