package trace

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// fuzzMemory is the limit that readers of fuzzed bytes have.
const fuzzMemory = 4 << 20

// use reads everything in a file, up to some calls of each thread, forwards and backwards. It must
// only return errors, and must not use more memory than the limit.
func use(t testing.TB, b []byte) {
	limits.Within(t, fuzzMemory, func() { useAll(b) })
}

func useAll(b []byte) {
	r, err := Open(bytes.NewReader(b), int64(len(b)), WithMemoryLimit(fuzzMemory))
	if err != nil {
		return
	}
	_, _ = r.Content()
	_, _ = r.Counts()
	if calls(r) < 100_000 { // the values of a send that varies are read one by one
		_ = VisitDistinct(r, 0, math.MaxUint64)
	}
	for i, t := range r.Threads().All() {
		if i == 4 {
			break
		}
		cursor, err := r.Cursor(t.Rank, t.Thread)
		if err != nil {
			continue
		}
		var text []byte
		for k := 0; k < 300 && cursor.Next(); k++ {
			text = cursor.Event().AppendJSON(cursor.Event().AppendText(text[:0]))
		}
		if cursor, err = r.Cursor(t.Rank, t.Thread); err == nil && cursor.Seek(t.Calls/2) && cursor.Next() {
			_ = cursor.Event().AppendText(text[:0])
		}
	}
}

// calls is the number of all calls, or enough.
func calls(r *Reader) uint64 {
	var n uint64
	for _, t := range r.Threads().All() {
		if n += t.Calls; n > 1<<40 {
			break
		}
	}
	return n
}

func FuzzOpen(f *testing.F) {
	f.Add(written(f, &Content{}))
	f.Add(written(f, stencil(1, 3, false)))
	f.Add(written(f, stencil(2, 5, true)))
	f.Add(written(f, clustered(3, 6)))
	traced := stencil(2, 3, false)
	traced.Ranks.Change(1, func(r *Rank) {
		r.Tracer = &TracerUsage{Stalls: 3, StalledNS: 1 << 33, LongestStallNS: 1 << 32, MemoryBytes: 1 << 23, MostMemory: 1 << 24, MostSpool: 1 << 22, WrittenBytes: 1 << 30, CPUNS: 1 << 34}
		r.Pressure = &Pressure{MemoryNS: 1 << 31, IONS: 1 << 30, MemoryLimitHits: 4000}
		r.TCP = &TCPUsage{Segments: 1 << 20, Retransmits: 77}
		r.Suspensions = Suspensions{Looks: 300, Suspended: 5}
	})
	f.Add(written(f, traced))
	golden, err := filepath.Glob("testdata/*.cairn")
	require.NoError(f, err)
	for _, name := range golden {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		use(t, b)
		useHistograms(t, b)
	})
}

// wholeBlocksOf takes a file apart: the contents of its blocks in order.
func wholeBlocksOf(t testing.TB, b []byte) (entries []codec.Entry, contents [][]byte) {
	r := opened(t, b)
	for i := range r.index.Len() {
		e := r.index.At(i)
		entries = append(entries, e)
		content, err := r.block(e)
		require.NoError(t, err)
		contents = append(contents, content)
	}
	return entries, contents
}

// blocksOf is the same with every small section in a separate block, which is also valid.
func blocksOf(t testing.TB, b []byte) (entries []codec.Entry, contents [][]byte) {
	whole, of := wholeBlocksOf(t, b)
	for i, e := range whole {
		if e.Kind != blockSections {
			entries, contents = append(entries, e), append(contents, of[i])
			continue
		}
		sections, _, err := codec.SplitSections(of[i], codec.NewBudget(math.MaxInt64))
		require.NoError(t, err)
		for _, s := range sections {
			entries, contents = append(entries, codec.Entry{Kind: s.Kind}), append(contents, s.Content)
		}
	}
	return entries, contents
}

// A spoiledBlock is one block of a good file, to be replaced.
type spoiledBlock struct {
	file    []byte
	entries []codec.Entry
	all     [][]byte // contents
	at      int
}

// with is the file with another content in the block, a good checksum and a good index.
func (s *spoiledBlock) with(content []byte) []byte {
	var b bytes.Buffer
	w := &fileWriter{w: &b, purpose: codec.Fastest, chain: &Chain{}}
	w.write(s.file[:headerSize])
	for i, e := range s.entries {
		if i == s.at {
			w.block(e.Kind, e.Key, e.Part, content)
			continue
		}
		if e.Size == 0 {
			w.block(e.Kind, 0, 0, s.all[i])
			continue
		}
		w.index.Add(codec.Entry{Kind: e.Kind, Offset: w.written, Size: e.Size, Key: e.Key, Part: e.Part})
		w.write(s.file[e.Offset:][:e.Size])
	}
	w.finish()
	return b.Bytes()
}

// FuzzSections puts bytes into a block of a good file, so that the decoders behind the checksums
// are reached: those of all sections that there are (TestEverySectionIsFuzzed).
func FuzzSections(f *testing.F) {
	blocks := blocksToSpoil(f)
	for i, s := range blocks {
		f.Add(uint8(i), s.all[s.at])
	}
	f.Fuzz(func(t *testing.T, block uint8, content []byte) {
		use(t, blocks[int(block)%len(blocks)].with(content))
	})
}

// blocksToSpoil are blocks of all types, one of each and those of the golden files that are large
// or have rare values.
func blocksToSpoil(t testing.TB) []spoiledBlock {
	aggregated := stencil(2, 3, false)
	aggregated.Threads.Change(1, func(thread *Thread) {
		var times timing.IntervalStatistics
		times.Add(5)
		times.Add(1000)
		thread.Aggregates = []timing.Aggregate{{Terminal: 1, Durations: times, Gaps: times}}
	})
	files := [][]byte{written(t, withContext()), written(t, withEvidence()), written(t, clustered(3, 6)), written(t, pointersAndPaths(t)), written(t, aggregated),
		written(t, wtimes(t, 3*codec.SequenceChunk+5))}
	golden, err := filepath.Glob("testdata/*.v[35].cairn")
	require.NoError(t, err)
	for _, name := range golden {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		files = append(files, b)
	}
	var blocks []spoiledBlock
	seen := map[codec.Kind]bool{}
	for i, file := range files {
		if whole, contents := wholeBlocksOf(t, file); i == 0 {
			// small sections together
			blocks = append(blocks, spoiledBlock{file, whole, contents, 0})
			seen[blockSections] = true
		}
		entries, contents := blocksOf(t, file)
		for at, e := range entries {
			rich := i >= 6 && (e.Kind == blockSignatures || e.Kind == blockStreams || e.Kind == blockColumns || e.Kind == blockSequences)
			if !seen[e.Kind] || rich {
				seen[e.Kind] = true
				blocks = append(blocks, spoiledBlock{file, entries, contents, at})
			}
		}
	}
	return blocks
}

func TestEverySectionIsFuzzed(t *testing.T) {
	fuzzed := map[codec.Kind]bool{}
	for _, s := range blocksToSpoil(t) {
		fuzzed[s.entries[s.at].Kind] = true
		_, err := opened(t, s.with(s.all[s.at])).Content()
		if err != nil {
			require.ErrorIs(t, err, ErrLeads)
		}
	}
	for kind := blockMeta; kind <= blockChunk; kind++ {
		require.True(t, fuzzed[kind], "block %d is not fuzzed", kind)
	}
}

// decodeSignature reads what AppendSignature wrote and returns the rest of b.
func decodeSignature(b []byte) (s Signature, rest []byte, err error) {
	d := newDecoder(b, nil)
	s = d.signature()
	return s, d.Rest, d.Err
}

func FuzzDecodeSignature(f *testing.F) {
	for _, s := range stencil(3, 12, false).Signatures {
		f.Add(AppendSignature(nil, &s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Signature
		var rest []byte
		var err error
		limits.Within(t, 128*uint64(len(b)), func() { s, rest, err = decodeSignature(b) })
		if err != nil {
			return
		}
		// varints may be longer than they need to be; what is written again is what is read again
		again, rest2, err := decodeSignature(AppendSignature(nil, &s))
		require.NoError(t, err)
		require.Empty(t, rest2)
		require.Empty(t, cmp.Diff(s, again, cmpopts.EquateEmpty()))
		require.LessOrEqual(t, len(rest), len(b))
	})
}
