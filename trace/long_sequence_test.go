package trace_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// streamed returns the values of a stream: random ones, equal ones, or a repeated pattern.
func streamed(random *rand.Rand, calls int) []int64 {
	values := make([]int64, calls)
	kind, period := random.IntN(4), 1+random.IntN(300)
	for i := range values {
		switch kind {
		case 0:
			values[i] = random.Int64N(1000)
		case 1:
			values[i] = 7
		case 2:
			values[i] = int64(i % period)
		case 3:
			values[i] = int64(i / codec.SequenceChunk)
		}
	}
	return values
}

// withStreams is longRank whose probes have four streams each: in the status, and the flag.
func withStreams(rank int, seed uint64) *trace.Content {
	random := rand.New(rand.NewPCG(seed, 11))
	c := longRank(rank, seed)
	c.Functions[1].Parameters = []trace.Parameter{
		{Name: "flag", Kind: "bool", Direction: trace.Out}, {Name: "status", Kind: "status", Direction: trace.Out},
	}
	stream := func(n int64) trace.Value { return trace.Value{Form: trace.Stream, Int: n} }
	c.Signatures[1].Out = []trace.Value{stream(0), {Form: trace.Status, List: []trace.Value{stream(1), stream(2), number(0), stream(3), number(8)}}}
	th := c.Threads.At(0)
	for k := range int32(4) {
		th.Streams = append(th.Streams, trace.StreamRef{Terminal: 1, Number: k, Sequence: k})
		c.Sequences = append(c.Sequences, codec.Sequence{Values: streamed(random, int(th.Calls-4)/2)})
	}
	c.Threads = trace.NewThreadTable(th)
	return c
}

// A file restores long sequences: as a whole, chunk by chunk with a cursor, and with a cursor that
// skips some.
func TestLongSequences(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 12))
		c := withStreams(0, seed)
		file := bytesOf(t, c)
		r := open(t, file)
		for i := range c.Sequences {
			values, err := r.Sequence(i)
			require.NoError(t, err)
			require.Equal(t, c.Sequences[i].Values, values)
			n, err := r.SequenceLength(i)
			require.NoError(t, err)
			require.EqualValues(t, len(values), n)
		}
		stored, err := r.StreamedContent()
		require.NoError(t, err)
		require.True(t, bytes.Equal(file, bytesOf(t, stored)))
		whole, err := r.Content()
		require.NoError(t, err)
		require.True(t, bytes.Equal(file, bytesOf(t, whole)))
		for i := range stored.Sequences {
			all, err := stored.Sequences[i].All()
			require.NoError(t, err)
			require.Equal(t, c.Sequences[i].Values, all)
			value, constant := stored.Sequences[i].Constant()
			require.Equal(t, len(slices.Compact(slices.Clone(all))) == 1, constant)
			if constant {
				require.Equal(t, all[0], value)
			}
		}
		want, err := c.Cursor(0, 0)
		require.NoError(t, err)
		fromFile, err := r.Cursor(0, 0)
		require.NoError(t, err)
		fromContent, err := stored.Cursor(0, 0)
		require.NoError(t, err)
		var lines [][]byte
		for want.Next() {
			if !fromFile.Next() || !fromContent.Next() {
				t.Fatal(fromFile.Err(), fromContent.Err())
			}
			line := want.Event().AppendJSON(nil)
			if want.Event().Index%97 == 0 {
				require.Equal(t, string(line), string(fromFile.Event().AppendJSON(nil)))
				require.Equal(t, string(line), string(fromContent.Event().AppendJSON(nil)))
			}
			lines = append(lines, line)
		}
		require.False(t, fromFile.Next())
		require.NoError(t, fromFile.Err())
		for range 30 {
			at := random.Uint64N(uint64(len(lines)))
			require.True(t, fromFile.Seek(at), fromFile.Err())
			require.True(t, fromFile.Next(), fromFile.Err())
			require.Equal(t, string(lines[at]), string(fromFile.Event().AppendJSON(nil)))
		}
	}
}

// Sequences are the same however they were built, and a number can be added.
func TestSequenceBuilder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 13))
	var table codec.SequenceTable
	rounds := 20
	if testing.Short() {
		rounds = 8
	}
	for range rounds {
		var plain []int64
		var b codec.SequenceBuilder
		for range 1 + random.IntN(8) {
			v, n := random.Int64N(3), random.Uint64N(1+random.Uint64N(4*codec.SequenceChunk))
			plain = append(plain, slices.Repeat([]int64{v}, int(n))...)
			b.PushRun(v, n)
			for range random.IntN(100) {
				v := random.Int64()
				plain = append(plain, v)
				b.Push(v)
			}
		}
		made := b.Sequence()
		require.EqualValues(t, len(plain), made.Len())
		number := table.Add(made)
		require.Equal(t, number, table.Add(codec.Sequence{Values: plain}))
		reader := made.Read()
		var values []int64
		for range plain {
			v, ok := reader.Next()
			if !ok {
				break
			}
			values = append(values, v)
		}
		require.True(t, slices.Equal(plain, values), reader.Err())
		_, ok := reader.Next()
		require.False(t, ok)
		require.NoError(t, reader.Err())
		more, err := made.Plus(5)
		require.NoError(t, err)
		again, err := more.Plus(-5)
		require.NoError(t, err)
		require.Equal(t, number, table.Add(again))
		all, err := more.All()
		require.NoError(t, err)
		for i := range plain {
			plain[i] += 5
		}
		require.True(t, slices.Equal(plain, all))
	}
}

// A trace whose chunks are in parts equals, byte for byte, the one whose chunks were coded at once;
// a chain of the parts and a tail reads like that trace.
func TestChunksInParts(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 14))
		c := withStreams(1, seed)
		whole := bytesOf(t, c)
		in, timingParts, files := inParts(t, c, 1+random.Uint64N(2), random)
		var file bytes.Buffer
		w, err := trace.NewPartWriter(&file, c)
		require.NoError(t, err)
		var of []trace.ChunkOf
		in.Sequences = slices.Clone(c.Sequences)
		for i, s := range c.Sequences {
			in.Sequences[i] = s.Chunked()
			for k, chunk := range in.Sequences[i].Chunks[:random.IntN(1+len(in.Sequences[i].Chunks))] {
				of = append(of, trace.ChunkOf{Terminal: 1, Stream: int32(i), Number: uint64(k)})
				require.NoError(t, w.Chunk(of[len(of)-1], chunk))
			}
		}
		require.NoError(t, w.Close())
		p, err := trace.OpenPart(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		var found []trace.ChunkOf
		p.Chunks(func(of trace.ChunkOf, chunk *codec.Chunk) {
			found = append(found, of)
			in.Sequences[of.Stream].Chunks[of.Number] = chunk
		})
		require.Equal(t, of, found)
		require.True(t, bytes.Equal(whole, bytesOf(t, in)))

		var chain trace.Chain
		at := int64(0)
		for _, part := range append(timingParts, p) {
			chain.Place(part, at)
			at += part.Size()
		}
		chain.Add(at)
		var tail bytes.Buffer
		require.NoError(t, trace.WriteTail(&tail, in, &chain))
		r := open(t, slices.Concat(files, file.Bytes(), tail.Bytes()))
		read, err := r.StreamedContent()
		require.NoError(t, err)
		require.True(t, bytes.Equal(whole, bytesOf(t, read)))
		sizes := r.Sizes()
		require.Equal(t, sizes.Total, sizes.Container+sizes.Signatures+sizes.Grammar+sizes.RankMap+sizes.Values+sizes.Timing+sizes.CallSites+sizes.Pointers+sizes.Metadata)
	}
}

// The second reader knows long sequences, and single values of them can be read.
func TestSecondReaderKnowsLongSequences(t *testing.T) {
	c := withStreams(0, 1)
	calls := 3*codec.SequenceChunk + 100
	th := c.Threads.At(0)
	c.Grammar = grammar.Grammar{Rules: [][]grammar.Symbol{{{Value: 1, Count: uint64(calls)}}}}
	th.Calls, th.Gaps, th.Durations = uint64(calls), nil, nil
	for i := range c.Sequences {
		c.Sequences[i].Values = c.Sequences[i].Values[:calls]
	}
	c.Threads = trace.NewThreadTable(th)
	b := bytesOf(t, c)
	file := filepath.Join(t.TempDir(), "trace.cairn")
	require.NoError(t, os.WriteFile(file, b, 0o600))
	got, err := exec.Command("python3", "testdata/reader.py", file).CombinedOutput()
	require.NoError(t, err, "%.1000s", got)
	cursor, err := open(t, b).Cursor(0, 0)
	require.NoError(t, err)
	for line := range bytes.Lines(got) {
		require.True(t, cursor.Next(), cursor.Err())
		require.Equal(t, string(cursor.Event().AppendJSON(nil)), string(bytes.TrimSpace(line)))
	}
	require.False(t, cursor.Next())
}

// Reading the chunks of arbitrary bytes ends with an error or with values.
func FuzzChunksOfParts(f *testing.F) {
	var file bytes.Buffer
	w, err := trace.NewPartWriter(&file, &trace.Content{})
	require.NoError(f, err)
	random := rand.New(rand.NewPCG(1, 15))
	for k := range uint64(3) {
		s := (&codec.Sequence{Values: streamed(random, codec.SequenceChunk)}).Chunked()
		require.NoError(f, w.Chunk(trace.ChunkOf{Thread: 1, Terminal: 2, Stream: 3, Number: k}, s.Chunks[0]))
	}
	require.NoError(f, w.Close())
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := trace.OpenPart(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, chunks := range trace.OrderChunks([]*trace.Part{p}) {
			if s := (codec.Sequence{Chunks: chunks}); s.Len() < 1<<20 {
				_, _ = s.All()
				_, _ = s.Constant()
			}
		}
	})
}
