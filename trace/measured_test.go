package trace

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/stretchr/testify/require"
)

// manyMeasured are ranks of three nodes with all kinds of measurements; their numbers are rounded
// already.
func manyMeasured() []Rank {
	random := rand.New(rand.NewPCG(13, 14))
	ns := func() int64 { return codec.RoundedNS(random.Int64N(1 << random.IntN(40))) }
	count := func() int64 { return codec.Rounded(random.Int64N(1<<random.IntN(40)) - 1) }
	usage := func() Usage { return Usage{count(), count(), count(), count(), ns()} }
	var ranks []Rank
	for i := range 40 {
		r := Rank{Rank: i, PID: 100 + i, BootID: string(rune('a' + i%3))}
		sample := ContextSample{MonotonicNS: int64(1<<40*(i%3) + random.IntN(1<<30)), ThrottledNS: Unknown, ThrottledPeriods: Unknown}
		for range random.IntN(5) {
			sample.MonotonicNS, sample.CPUNS, sample.RunDelayNS = sample.MonotonicNS+ns(), sample.CPUNS+ns(), sample.RunDelayNS+ns()
			sample.VoluntarySwitches, sample.StealNS, sample.CPU = sample.VoluntarySwitches+random.Int64N(1000), ns()-1, random.Int64N(9)-1
			r.Context = append(r.Context, sample)
		}
		for k := range random.IntN(6) {
			r.Threads = append(r.Threads, ThreadUsage{TID: r.PID + random.IntN(9) - 4, Name: string(rune('s' + k)), CPUNS: ns(), RunDelayNS: ns(), CallsMPI: k == 0, Tool: k%3 == 1})
		}
		for k := range random.IntN(6) {
			wall := codec.RoundedNS(ns() + 1<<20)
			off := codec.RoundedNS(random.Int64N(wall))
			r.Evidence = append(r.Evidence, EvidenceRow{
				EvidenceKey: EvidenceKey{Thread: k, Before: CallSite{Function: uint16(1 + random.IntN(3))}}, Count: uint64(codec.Rounded(1 + random.Int64N(1000))),
				WallNS: wall, CPUNS: wall - off, RunDelayNS: codec.RoundedNS(random.Int64N(off + 1)), OtherCPUNS: ns(),
				IOBytes: codec.Rounded(ns()), IOCalls: codec.Rounded(random.Int64N(500) - 1), DataNS: ns(), Usage: usage(),
			})
			r.Outliers = append(r.Outliers, EvidenceInstance{
				Row: random.IntN(k + 1), BeginNS: random.Int64N(1<<30) << 16, WallNS: wall, CPUNS: wall - off, RunDelayNS: Unknown, IOBytes: codec.Rounded(ns()), Usage: usage(),
			})
		}
		if random.IntN(4) > 0 {
			r.Tracer = &TracerUsage{Stalls: codec.Rounded(ns()), StalledNS: ns(), MemoryBytes: codec.Rounded(ns()>>13) << 16, WrittenBytes: codec.Rounded(ns()>>13) << 16, CPUNS: ns()}
		}
		if random.IntN(4) > 0 {
			r.Pressure = &Pressure{MemoryNS: ns(), IONS: Unknown, MemoryLimitHits: count()}
			r.Suspensions = Suspensions{Looks: 1 + ns(), Suspended: 1}
		}
		if random.IntN(4) > 0 {
			r.TCP = &TCPUsage{Segments: codec.Rounded(ns()), Retransmits: count()}
		}
		ranks = append(ranks, r)
	}
	return ranks
}

// Measurements of many ranks, with all kinds of threads, are restored rounded.
func TestEvidenceOfManyRanks(t *testing.T) {
	ranks := manyMeasured()
	table := NewRankTable(ranks...)
	c := measuredContent(ranks)
	got, err := opened(t, written(t, c)).Content()
	require.NoError(t, err)
	for i, r := range got.Ranks.All() {
		require.Equal(t, ranks[i].Evidence, r.Evidence)
		require.Equal(t, ranks[i].Outliers, r.Outliers)
		require.Equal(t, ranks[i].Threads, r.Threads)
		require.Equal(t, ranks[i].Tracer, r.Tracer)
		require.Equal(t, ranks[i].Pressure, r.Pressure)
		require.Equal(t, ranks[i].Suspensions, r.Suspensions)
		require.Equal(t, ranks[i].TCP, r.TCP)
		require.Equal(t, table.At(i).Context, r.Context)
	}
}

// measuredContent is a trace of these ranks, without calls.
func measuredContent(ranks []Rank) *Content {
	c := &Content{Ranks: NewRankTable(ranks...)}
	for id := range uint16(3) {
		c.Functions = append(c.Functions, Function{ID: 1 + id, Name: "MPI_" + string(rune('A'+id)), Class: "x", Return: "int"})
	}
	return c
}

// The second reader says the same of what was measured.
func TestSecondReaderKnowsRanks(t *testing.T) {
	c := measuredContent(manyMeasured())
	path := filepath.Join(t.TempDir(), "trace.cairn")
	require.NoError(t, os.WriteFile(path, written(t, c), 0o600))
	out, err := exec.Command("python3", "testdata/reader.py", path, "--ranks").CombinedOutput()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, c.Ranks.Len())
	for i, r := range c.Ranks.All() {
		tracer := []*TracerUsage{}
		if r.Tracer != nil {
			tracer = append(tracer, r.Tracer)
		}
		pressure := []int64{}
		if r.Pressure != nil || r.TCP != nil {
			p, c := Pressure{Unknown, Unknown, Unknown}, TCPUsage{Unknown, Unknown}
			if r.Pressure != nil {
				p = *r.Pressure
			}
			if r.TCP != nil {
				c = *r.TCP
			}
			pressure = []int64{p.MemoryNS, p.IONS, p.MemoryLimitHits, c.Segments, c.Retransmits}
		}
		want, err := json.Marshal(map[string]any{
			"Context": append([]ContextSample{}, r.Context...), "Evidence": append([]EvidenceRow{}, r.Evidence...),
			"Outliers": append([]EvidenceInstance{}, r.Outliers...), "Threads": append([]ThreadUsage{}, r.Threads...), "Tracer": tracer,
			"Pressure": pressure, "Suspensions": []int64{r.Suspensions.Looks, r.Suspensions.Suspended},
		})
		require.NoError(t, err)
		require.JSONEq(t, string(want), lines[i], "rank %d", i)
	}
}
