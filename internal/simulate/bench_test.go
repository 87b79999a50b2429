package simulate

import (
	"fmt"
	"testing"
)

// BenchmarkRank is what one rank costs, alone and with the replay.
func BenchmarkRank(b *testing.B) {
	for _, config := range []Config{
		{Pattern: "stencil2d", Ranks: 1 << 20, NoReplay: true},
		{Pattern: "wavefront", Ranks: 1 << 20, NoReplay: true},
		{Pattern: "irregular", Ranks: 1 << 20, NoReplay: true},
		{Pattern: "stencil2d", Ranks: 1024},
		{Pattern: "master-worker", Ranks: 1024},
	} {
		b.Run(fmt.Sprintf("%s-%d", config.Pattern, config.Ranks), func(b *testing.B) {
			s, err := New(config)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i, calls := 0, uint64(0)
			for b.Loop() {
				if !config.NoReplay && i%config.Ranks == 0 {
					if s, err = New(config); err != nil {
						b.Fatal(err)
					}
				}
				c, err := s.Rank(i % config.Ranks)
				if err != nil {
					b.Fatal(err)
				}
				calls += c.Threads.At(0).Calls
				i++
			}
			b.ReportMetric(float64(calls)/float64(i), "calls/rank")
		})
	}
}
