package trace

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/histogram"
	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// If there are too many distances for exact counts, bins keep the sums.
func TestJoinTraffic(t *testing.T) {
	few := []TrafficBin{{Fixed: true, Low: -1, High: -1, Messages: 1}, {Low: 5, High: 5, Messages: 1, Bytes: 7}, {Low: 5, High: 5, Messages: 2, Bytes: 1}}
	require.Equal(t, []TrafficBin{{Low: 5, High: 5, Messages: 3, Bytes: 8}, {Fixed: true, Low: -1, High: -1, Messages: 1}}, JoinTraffic(few))
	var many []TrafficBin
	for d := int64(-100); d <= 100; d++ {
		many = append(many, TrafficBin{Low: d, High: d, Messages: 1, Bytes: uint64(100 + d)})
	}
	joined := JoinTraffic(many)
	var messages, sum uint64
	for _, b := range joined {
		messages, sum = messages+b.Messages, sum+b.Bytes
	}
	require.Equal(t, []uint64{201, 20100}, []uint64{messages, sum})
	require.Less(t, len(joined), 50)
}

// someHistograms has everything that a file can have.
func someHistograms() *Histograms {
	histogram := func(coarse bool, values ...int64) histogram.Histogram {
		b := histogram.Builder{Coarse: coarse}
		for _, x := range values {
			b.Add(x, 1)
		}
		return b.Histogram()
	}
	c := stencil(4, 2, true)
	h := &Histograms{
		Meta: c.Meta, Functions: c.Functions, Sites: c.Sites, Lost: []string{"the order of calls"},
		From: HistogramsFrom{Bytes: 12345, Calls: 20, Signatures: 9, Rules: 3}, DurationNS: 1 << 40,
	}
	h.Meta.Clustering, h.Meta.Excluded = nil, []string{"io"}
	for rank := range 4 {
		r := Rank{Rank: rank, Host: "a", Node: "n", Clock: timing.Clock{Kind: "monotonic"}, StartRealtimeNS: 1 << 60}
		if rank == 2 {
			r.EndedEarly, r.End = "killed in MPI_Send", &End{Signal: 9, ExitCode: -1}
		}
		h.Ranks.Append(r)
	}
	many := make([]int64, 100)
	for i := range many {
		many[i] = int64(i*i*i - 1000)
	}
	h.Clusters = []RankCluster{
		{
			Ranks: NewRankList([]int{0, 1, 2}), ThreadCalls: histogram(true, 5, 5, 6), ThreadSpans: histogram(true, 1000, 1010, 990), ThreadInside: histogram(true, 1, 2, 3),
			Calls: []CallHistogram{
				{Function: c.Functions[0].ID, Calls: 3, Durations: histogram(true, 4, 4, 4)},
				{Function: c.Functions[1].ID, Site: 1, Calls: 100, Unsized: 2, Durations: histogram(true, many...), Bytes: histogram(false, 8, 16, 8),
					Gaps: []GapHistogram{{-1, histogram(true, 0)}, {0, histogram(true, -5, 100)}, {1, histogram(true, many[:97]...)}},
					Arguments: []ArgumentHistogram{
						{Name: "dest", Relative: true, Numbers: histogram(false, 1, -1, 1, 0), Names: []NameCount{{"MPI_PROC_NULL", 5}, {"MPI_ANY_SOURCE", 1}}, Others: 2},
						{Name: "counts", Lengths: histogram(false, 4, 4), Numbers: histogram(false, many...)},
						{Name: "status.tag", Result: true, Numbers: histogram(false, 7, 7)},
					}},
			},
			Traffic: []TrafficBin{{Low: -16, High: -13, Messages: 9, Bytes: 1 << 40}, {Low: 1, High: 1, Messages: 1 << 40, Unsized: 3}, {Fixed: true, Low: -1, High: -1, Messages: 1}},
		},
		{Ranks: NewRankList([]int{3}), ThreadCalls: histogram(true, 1), ThreadSpans: histogram(true, 9), ThreadInside: histogram(true, 2)},
	}
	return h
}

func writtenHistograms(t testing.TB, h *Histograms) []byte {
	var b bytes.Buffer
	require.NoError(t, WriteHistograms(&b, h))
	return b.Bytes()
}

func TestHistogramsRoundTrip(t *testing.T) {
	for name, h := range map[string]*Histograms{"all": someHistograms(), "nothing": {}} {
		b := writtenHistograms(t, h)
		require.True(t, IsHistograms(bytes.NewReader(b)), name)
		got, err := OpenHistograms(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err, name)
		require.Empty(t, cmp.Diff(h.Ranks.List(), got.Ranks.List(), cmpopts.EquateEmpty()), name)
		got.Ranks = h.Ranks
		require.Empty(t, cmp.Diff(h, got, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(RankTable{})), name)
		require.Equal(t, b, writtenHistograms(t, got), name)
	}
}

// Readers of calls refuse a trace of histograms and say what to do.
func TestHistogramsAreRefused(t *testing.T) {
	b := writtenHistograms(t, someHistograms())
	_, err := Open(bytes.NewReader(b), int64(len(b)))
	require.ErrorIs(t, err, ErrHistograms)
	require.ErrorContains(t, err, "use the trace that it was made from")
	b = written(t, stencil(2, 2, true))
	require.False(t, IsHistograms(bytes.NewReader(b)))
	_, err = OpenHistograms(bytes.NewReader(b), int64(len(b)))
	require.ErrorContains(t, err, "no trace of histograms")
}

func TestHistogramsValidate(t *testing.T) {
	for want, spoil := range map[string]func(h *Histograms){
		"no function":           func(h *Histograms) { h.Clusters[0].Calls[1].Function = 9999 },
		"no call site":          func(h *Histograms) { h.Clusters[0].Calls[1].Site = 9999 },
		"not in order":          func(h *Histograms) { slices.Reverse(h.Clusters) },
		"gaps 0":                func(h *Histograms) { h.Clusters[0].Calls[1].Gaps[0].After = 7 },
		"histograms are":        func(h *Histograms) { h.Clusters[0].Calls[1].Durations.Bins[0].Count++ },
		"argument dest":         func(h *Histograms) { h.Clusters[0].Calls[1].Arguments[0].Numbers.Bins[0].High++ },
		"traffic 0":             func(h *Histograms) { h.Clusters[0].Traffic[0].Low = 0 },
		"histogram of its thre": func(h *Histograms) { h.Clusters[0].ThreadSpans.Max = 1 << 50 },
	} {
		h := someHistograms()
		spoil(h)
		require.ErrorContains(t, WriteHistograms(&bytes.Buffer{}, h), want)
	}
}

// The content of a trace of histograms never changes (see TestSecondReader, too).
func TestHistogramsGolden(t *testing.T) {
	const file, text = "testdata/histograms.v4.cairn", "testdata/histograms.v4.jsonl"
	if *update {
		// without the codec that takes the second reader a second for each section
		var b bytes.Buffer
		require.NoError(t, writeHistograms(&b, someHistograms(), codec.Fastest))
		WriteGolden(t, file, b.Bytes())
		WriteGolden(t, text, someHistograms().AppendJSON(nil))
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	want, err := os.ReadFile(text)
	require.NoError(t, err)
	h, err := OpenHistograms(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	require.Equal(t, string(want), string(h.AppendJSON(nil)))
	require.Equal(t, string(want), string(someHistograms().AppendJSON(nil)))
}

// Any bytes give only errors, and no more memory than the limit.
func useHistograms(t testing.TB, b []byte) {
	limits.Within(t, fuzzMemory, func() {
		h, err := OpenHistograms(bytes.NewReader(b), int64(len(b)), WithMemoryLimit(fuzzMemory))
		if err != nil {
			return
		}
		h.Totals()
		for i := range h.Clusters {
			h.Clusters[i].ThreadSpans.Quantile(0.5)
		}
	})
}

// FuzzHistograms puts bytes into the section of histograms of a good file.
func FuzzHistograms(f *testing.F) {
	h := someHistograms()
	f.Add(appendHistograms(h))
	f.Add(appendHistograms(&Histograms{}))
	f.Fuzz(func(t *testing.T, section []byte) {
		var b bytes.Buffer
		w := &fileWriter{w: &b, purpose: codec.Fastest, chain: &Chain{}}
		w.write(append([]byte(magic), HistogramsVersion))
		w.section(blockMeta, appendMeta(&h.Meta))
		w.section(blockFunctions, appendFunctions(h.Functions))
		w.section(blockSites, appendSites(h.Sites))
		w.section(blockRanks, appendRanks(&h.Ranks))
		w.section(blockHistograms, section)
		w.block(blockSections, 0, 0, codec.AppendSections(nil, w.small))
		w.finish()
		useHistograms(t, b.Bytes())
	})
}

// Any byte of the section may be another one.
func TestSpoiledHistograms(t *testing.T) {
	good := appendHistograms(someHistograms())
	for i := range good {
		for _, x := range []byte{1, 0xff} {
			b := slices.Clone(good)
			b[i] = x
			var h Histograms
			d := sectionDecoder(b, codec.NewBudget(fuzzMemory))
			d.histograms(&h)
			if d.Err == nil {
				require.NotPanics(t, func() { _ = h.Validate() }, fmt.Sprint(i))
			}
		}
	}
}

// A histogram of equal numbers has no bins in the file (docs/format-histograms.md).
func TestEqualNumbersHaveNoBinsInTheFile(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		b := histogram.Builder{Coarse: coarse}
		for want, x := range []int64{700, 700, 9000, 80000} {
			b.Add(x, 2)
			h := b.Histogram()
			if want < 2 {
				require.Len(t, h.Bins, 1)
				require.Zero(t, writtenBins(&h))
				continue
			}
			require.Equal(t, want, writtenBins(&h))
		}
	}
}
