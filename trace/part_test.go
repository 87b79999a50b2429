package trace_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// longRank is a rank with some blocks of calls with random times.
func longRank(rank int, seed uint64) *trace.Content {
	random := rand.New(rand.NewPCG(seed, 2))
	c := &trace.Content{
		Functions: []trace.Function{{ID: 1, Name: "MPI_Barrier", Class: "barrier blocking", Return: "int"}, {ID: 2, Name: "MPI_Iprobe", Class: "probe", Return: "int"}},
		Signatures: []trace.Signature{
			{Function: 1, OwnRank: -1, Return: number(0)}, {Function: 2, OwnRank: -1, Return: number(0)}, {Function: 2, OwnRank: -1, Site: 0, Return: number(1)},
		},
		Ranks: trace.NewRankTable(trace.Rank{Rank: rank, Clock: timing.Clock{Kind: "monotonic"}}),
		Meta:  trace.Meta{World: "w", WorldSize: 2, Timing: timing.Settings{Mode: timing.Lossless}},
	}
	turns := uint64(40_000 + random.IntN(10_000))
	c.Grammar = grammar.Grammar{Rules: [][]grammar.Symbol{
		{{Value: 0, Count: 1}, grammar.RuleSymbol(1, turns), {Value: 0, Count: 3}},
		{{Value: 1, Count: 3}, {Value: 2, Count: 1}, {Value: 0, Count: 2}},
	}}
	th := trace.Thread{Rank: rank, Calls: 4 + 6*turns, FirstTick: 1000}
	for range th.Calls {
		th.Gaps, th.Durations = append(th.Gaps, random.Int64N(300)), append(th.Durations, random.Int64N(1<<random.IntN(20)))
	}
	c.Threads = trace.NewThreadTable(th)
	return c
}

// inParts codes the first blocks of a thread's times into parts of a few blocks.
func inParts(t testing.TB, c *trace.Content, blocks uint64, random *rand.Rand) (*trace.Content, []*trace.Part, []byte) {
	t.Helper()
	th := c.Threads.At(0)
	coded := &trace.CodedTimes{Of: c, Root: th.Root}
	var parts []*trace.Part
	var files []byte
	for next := uint64(0); next < blocks; {
		var file bytes.Buffer
		w, err := trace.NewPartWriter(&file, c)
		require.NoError(t, err)
		for range 1 + random.IntN(3) {
			if next == blocks {
				break
			}
			from, to := next*timing.BlockCalls, (next+1)*timing.BlockCalls
			require.NoError(t, w.Timing(&th, next, coded.Ticks, th.Gaps[from:to], th.Durations[from:to]))
			for i := from; i < to; i++ {
				coded.Ticks += th.Gaps[i] + th.Durations[i]
			}
			next++
		}
		require.NoError(t, w.Close())
		p, err := trace.OpenPart(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		parts, files = append(parts, p), append(files, file.Bytes()...)
	}
	coded.Blocks = trace.OrderBlocks(parts)[0]
	require.Len(t, coded.Blocks, int(blocks))
	if from := blocks * timing.BlockCalls; from < th.Calls {
		coded.Rest = &listed{th.Gaps[from:], th.Durations[from:]}
	}
	th.Gaps, th.Durations, th.Timing = nil, nil, coded
	in := *c
	in.Threads = trace.NewThreadTable(th)
	return &in, parts, files
}

// listed are times in memory, as a source.
type listed struct{ gaps, durations []int64 }

func (l *listed) OpenTiming() (trace.TimingReader, error) {
	read := *l
	return &read, nil
}

func (l *listed) ReadTiming(gaps, durations []int64) (int, error) {
	n := copy(gaps, l.gaps)
	copy(durations, l.durations[:n])
	l.gaps, l.durations = l.gaps[n:], l.durations[n:]
	return n, nil
}

// A trace whose times are in parts equals, byte for byte, the one whose times were coded at once; a
// chain of the parts and a tail reads like that trace.
func TestPartsAndChains(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 5))
		c := longRank(1, seed)
		th := c.Threads.At(0)
		whole := bytesOf(t, c)
		most := th.Calls / timing.BlockCalls
		blocks := []uint64{most, 1, 1 + random.Uint64N(most), 1 + random.Uint64N(most)}[seed]
		in, parts, files := inParts(t, c, blocks, random)
		gaps, durations, err := func() ([]int64, []int64, error) { th := in.Threads.At(0); return th.Times() }()
		require.NoError(t, err)
		require.Equal(t, th.Gaps, gaps)
		require.Equal(t, th.Durations, durations)
		require.True(t, bytes.Equal(whole, bytesOf(t, in)))

		var chain trace.Chain
		object := bytes.Repeat([]byte{7}, random.IntN(100)) // parts of others
		if len(object) > 0 {
			object = append([]byte("CAIRN\x1a\n"), append([]byte{trace.FormatVersion}, object...)...)
		}
		chain.Add(int64(len(object)))
		object = append(object, files...)
		at := int64(0)
		for _, p := range parts {
			chain.Place(p, at)
			at += p.Size()
		}
		chain.Add(at)
		require.EqualValues(t, len(object), chain.Size())
		var tail bytes.Buffer
		require.NoError(t, trace.WriteTail(&tail, in, &chain))
		require.Less(t, tail.Len(), len(whole)-len(files)/2)
		r := open(t, append(object, tail.Bytes()...))
		read, err := r.StreamedContent()
		require.NoError(t, err)
		require.True(t, bytes.Equal(whole, bytesOf(t, read)))
		sizes := r.Sizes()
		require.Equal(t, int64(len(object)+tail.Len()), sizes.Total)
		require.Equal(t, sizes.Total, sizes.Container+sizes.Signatures+sizes.Grammar+sizes.RankMap+sizes.Values+sizes.Timing+sizes.CallSites+sizes.Pointers+sizes.Metadata)
	}
}

// Reading arbitrary bytes of a part ends with an error or with blocks.
func FuzzPart(f *testing.F) {
	c := longRank(0, 1)
	th := c.Threads.At(0)
	var file bytes.Buffer
	w, err := trace.NewPartWriter(&file, c)
	require.NoError(f, err)
	require.NoError(f, w.Timing(&th, 0, 0, th.Gaps[:timing.BlockCalls], th.Durations[:timing.BlockCalls]))
	require.NoError(f, w.Close())
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := trace.OpenPart(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		coded := &trace.CodedTimes{Of: c, Blocks: trace.OrderBlocks([]*trace.Part{p})[0]}
		from, err := coded.OpenTiming()
		require.NoError(t, err)
		gaps, durations := make([]int64, 1000), make([]int64, 1000)
		for err == nil {
			var n int
			if n, err = from.ReadTiming(gaps, durations); n < len(gaps) && err == nil {
				err = io.EOF
			}
		}
	})
}
