package trace_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// chaptered returns the trace of two ranks whose calls have no order: once unchanged, and once with
// the first calls of the ranks in chapters, which number signatures differently. It also returns
// the parts with the chapters.
func chaptered(t testing.TB, seed uint64) (whole, apart *trace.Content, parts []*trace.Part, files []byte) {
	random := rand.New(rand.NewPCG(seed, 21))
	names := []int32{2, 0, 1} // terminal of the process, by terminal of the trace
	back := []int32{1, 2, 0}
	whole, apart = longRank(0, seed), longRank(0, seed)
	whole.Ranks = trace.NewRankTable(trace.Rank{Rank: 0, Clock: timing.Clock{Kind: "monotonic"}}, trace.Rank{Rank: 1, Clock: timing.Clock{Kind: "monotonic"}})
	apart.Ranks = whole.Ranks
	whole.Grammar, apart.Grammar = grammar.Grammar{}, grammar.Grammar{}
	whole.Threads, apart.Threads = trace.NewThreadTable(), trace.NewThreadTable()
	rest := []grammar.Symbol{{Value: 1, Count: 5}, {Value: 0, Count: 12_000}}
	for rank := range 2 {
		var all []int32
		chapters := &trace.Chapters{Terminals: back}
		for number := range uint64(3) {
			n := 18_000 + random.IntN(3000)
			s := grammar.NewSequitur()
			for range n {
				terminal := random.Int32N(3)
				all = append(all, terminal)
				s.Append(names[terminal])
			}
			var file bytes.Buffer
			w, err := trace.NewPartWriter(&file, &trace.Content{})
			require.NoError(t, err)
			text := codec.AppendGrammar(nil, s.Grammar())
			require.Error(t, w.Chapter(trace.ChapterOf{Calls: uint64(n) + 1}, text))
			require.Error(t, w.Chapter(trace.ChapterOf{Calls: uint64(n)}, text[:len(text)/2]))
			require.NoError(t, w.Chapter(trace.ChapterOf{Number: number, Calls: uint64(n)}, text))
			require.NoError(t, w.Close())
			p, err := trace.OpenPart(bytes.NewReader(file.Bytes()), int64(file.Len()))
			require.NoError(t, err)
			require.Len(t, p.Chapters(), 1)
			g, err := p.Chapters()[0].Grammar()
			require.NoError(t, err)
			require.Equal(t, g.Counts(0), p.Chapters()[0].Counts())
			parts, files = append(parts, p), append(files, file.Bytes()...)
			chapters.List = append(chapters.List, p.Chapters()[0])
		}
		s := grammar.NewSequitur()
		for _, terminal := range all {
			s.Append(terminal)
		}
		th := trace.Thread{Rank: rank, Calls: uint64(len(all)) + 12_005, FirstTick: 1000, EndTick: 1 << 30, Root: len(whole.Grammar.Rules)}
		for range th.Calls {
			th.Gaps, th.Durations = append(th.Gaps, random.Int64N(300)), append(th.Durations, random.Int64N(1<<random.IntN(20)))
		}
		g := s.Grammar()
		g.Rules[0] = append(g.Rules[0], rest...)
		for _, body := range g.Rules {
			for i, symbol := range body {
				if symbol.IsRule() {
					body[i] = grammar.RuleSymbol(symbol.Rule()+th.Root, symbol.Count)
				}
			}
			whole.Grammar.Rules = append(whole.Grammar.Rules, body)
		}
		whole.Threads.Append(th)
		th.Root, th.Chapters = len(apart.Grammar.Rules), chapters
		var counts []grammar.Symbol
		for _, symbol := range trace.CountsOf(chapters.List) {
			counts = append(counts, grammar.Symbol{Value: back[symbol.Value], Count: symbol.Count})
		}
		apart.Grammar.Rules = append(apart.Grammar.Rules, append([]grammar.Symbol{grammar.RuleSymbol(th.Root+1, 1)}, rest...), counts)
		apart.Threads.Append(th)
	}
	// times of the calls in chapters are coded with all calls of the rank
	for i, th := range whole.Threads.All() {
		var file bytes.Buffer
		w, err := trace.NewPartWriter(&file, whole)
		require.NoError(t, err)
		gaps, durations := th.Gaps[:timing.BlockCalls], th.Durations[:timing.BlockCalls]
		require.NoError(t, w.Timing(&th, 0, 0, gaps, durations))
		require.NoError(t, w.Close())
		p, err := trace.OpenPart(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		parts, files = append(parts, p), append(files, file.Bytes()...)
		coded := &trace.CodedTimes{Of: whole, Root: th.Root, Rest: inMemory{th.Gaps[len(gaps):], th.Durations[len(gaps):]}}
		p.Blocks(func(b trace.PartBlock) { coded.Blocks = append(coded.Blocks, b) })
		for k := range gaps {
			coded.Ticks += gaps[k] + durations[k]
		}
		apart.Threads.Change(i, func(t *trace.Thread) { t.Timing, t.Gaps, t.Durations = coded, nil, nil })
	}
	return whole, apart, parts, files
}

// inMemory are times of calls.
type inMemory struct{ gaps, durations []int64 }

func (m inMemory) OpenTiming() (trace.TimingReader, error) { return &m, nil }

func (m *inMemory) ReadTiming(gaps, durations []int64) (int, error) {
	n := copy(gaps, m.gaps)
	copy(durations, m.durations[:n])
	m.gaps, m.durations = m.gaps[n:], m.durations[n:]
	return n, nil
}

// linesOf are all calls of a trace.
func linesOf(t *testing.T, r *trace.Reader) string {
	var b strings.Builder
	for _, th := range r.Threads().All() {
		cursor, err := r.Cursor(th.Rank, th.Thread)
		require.NoError(t, err)
		for cursor.Next() {
			b.Write(append(cursor.Event().AppendJSON(nil), '\n'))
		}
		require.NoError(t, cursor.Err())
	}
	return b.String()
}

// Both readers read a shard whose first calls are in chapters like the trace with these calls in
// its grammar, whether the chapters are in the shard or in parts before it.
func TestChapters(t *testing.T) {
	whole, apart, parts, files := chaptered(t, 1)
	want := linesOf(t, open(t, bytesOf(t, whole)))
	var chain trace.Chain
	for _, p := range parts {
		chain.Place(p, 0)
		chain.Add(p.Size())
	}
	tail := bytes.NewBuffer(bytes.Clone(files))
	require.NoError(t, trace.WriteTail(tail, apart, &chain))
	alone := bytesOf(t, apart)
	require.Less(t, tail.Len()-len(files), len(alone)/2)
	for _, b := range [][]byte{tail.Bytes(), alone} {
		require.True(t, want == linesOf(t, open(t, b)))
		if !testing.Short() { // the second reader takes 20 s for 140,000 calls
			file := filepath.Join(t.TempDir(), "trace.cairn")
			require.NoError(t, os.WriteFile(file, b, 0o600))
			got, err := exec.Command("python3", "testdata/reader.py", file).CombinedOutput()
			require.NoError(t, err, "%.1000s", got)
			require.True(t, want == string(got))
		}
		c, err := open(t, b).StreamedContent()
		require.NoError(t, err)
		require.NoError(t, c.Validate())
	}
	// of parts that are joined there is one index
	end, err := trace.JoinParts(parts)
	require.NoError(t, err)
	all := append(bytes.Clone(files), end...)
	joined, err := trace.OpenPart(bytes.NewReader(all), int64(len(all)))
	require.NoError(t, err)
	require.Len(t, joined.Chapters(), 6)
	for _, c := range joined.Chapters() {
		g, err := c.Grammar()
		require.NoError(t, err)
		require.Equal(t, g.Counts(0), c.Counts())
	}
}

// Reading the chapters of arbitrary bytes ends with an error or with grammars.
func FuzzChaptersOfParts(f *testing.F) {
	_, _, parts, files := chaptered(f, 7)
	first := files[:parts[0].Size()]
	f.Add(first)
	f.Add(first[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := trace.OpenPart(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, c := range p.Chapters() {
			if g, err := c.Grammar(); err == nil {
				lengths, err := g.Lengths()
				require.NoError(t, err)
				require.Equal(t, c.Calls(), lengths[0])
			}
		}
	})
}
