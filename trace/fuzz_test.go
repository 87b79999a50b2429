package trace

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// fuzzMemory is the limit that readers of fuzzed bytes have.
const fuzzMemory = 4 << 20

// use reads everything that a file holds, up to some calls of each thread, and goes to and fro. Only errors may come of
// it, and no more memory than the limit.
func use(t testing.TB, b []byte) {
	within(t, fuzzMemory, func() { useAll(b) })
}

func useAll(b []byte) {
	r, err := Open(bytes.NewReader(b), int64(len(b)), WithMemoryLimit(fuzzMemory))
	if err != nil {
		return
	}
	_, _ = r.Content()
	_, _ = r.Counts()
	if calls(r) < 100_000 { // the values of a send that varies are gone through
		_, _ = r.Matrix()
	}
	for i, t := range r.Threads() {
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
		for k := 0; k < 10 && cursor.Previous(); k++ {
			text = cursor.Event().AppendText(text[:0])
		}
		if cursor, err = r.Cursor(t.Rank, t.Thread); err == nil && cursor.Seek(t.Calls/2) && cursor.Next() {
			_ = cursor.Event().AppendText(text[:0])
		}
	}
}

// calls is the number of all calls, or enough.
func calls(r *Reader) uint64 {
	var n uint64
	for _, t := range r.Threads() {
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
	f.Fuzz(func(t *testing.T, b []byte) { use(t, b) })
}

// blocksOf takes a file apart: the contents of its blocks in order.
func blocksOf(t testing.TB, b []byte) (entries []indexEntry, contents [][]byte) {
	r := opened(t, b)
	for _, e := range r.index {
		content, err := r.block(e)
		require.NoError(t, err)
		contents = append(contents, content)
	}
	return r.index, contents
}

// FuzzSections puts bytes into a block of a good file, with a good checksum and index, so that the decoders behind the
// checksums are reached. It covers metadata, functions, call sites, signatures, communicators, grammar, ranks, rank
// map, streams, value sequences and timing.
func FuzzSections(f *testing.F) {
	entries, contents := blocksOf(f, written(f, withContext()))
	for i, content := range contents {
		f.Add(uint8(i), content)
	}
	f.Fuzz(func(t *testing.T, block uint8, content []byte) {
		var b bytes.Buffer
		w := &fileWriter{w: &b}
		w.write(append([]byte(magic), FormatVersion))
		for i, e := range entries {
			if i == int(block)%len(entries) {
				w.block(e.kind, e.key, e.part, content)
			} else {
				w.block(e.kind, e.key, e.part, contents[i])
			}
		}
		w.finish()
		use(t, b.Bytes())
	})
}

func FuzzIndex(f *testing.F) {
	b := written(f, stencil(2, 12, true))
	r := opened(f, b)
	f.Add(appendIndex(nil, r.index), int64(len(b)))
	f.Fuzz(func(t *testing.T, b []byte, end int64) {
		_, _ = decodeIndex(b, end, newBudget(fuzzMemory))
	})
}

func FuzzDecodeSignature(f *testing.F) {
	for _, s := range stencil(3, 12, false).Signatures {
		f.Add(AppendSignature(nil, &s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, rest, err := DecodeSignature(b)
		if err != nil {
			return
		}
		// varints may be longer than they need to be; what is written again is what is read again
		again, rest2, err := DecodeSignature(AppendSignature(nil, &s))
		require.NoError(t, err)
		require.Empty(t, rest2)
		require.Empty(t, cmp.Diff(s, again, cmpopts.EquateEmpty()))
		require.LessOrEqual(t, len(rest), len(b))
	})
}

func FuzzDecodeGrammar(f *testing.F) {
	f.Add(AppendGrammar(nil, Grammar{}))
	f.Add(AppendGrammar(nil, stencil(3, 50, false).Grammar))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, _, err := DecodeGrammar(b)
		if err != nil {
			return
		}
		require.NoError(t, g.Validate())
		again, _, err := DecodeGrammar(AppendGrammar(nil, g))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(g, again, cmpopts.EquateEmpty()))
		if len(g.Rules) == 0 {
			return
		}
		lengths, err := g.Lengths()
		require.NoError(t, err)
		if s, err := ResumeSequitur(g); err == nil && lengths[0] < 10_000 {
			require.Equal(t, g.Expand(0), s.Grammar().Expand(0))
		}
	})
}

func FuzzDecodeSequence(f *testing.F) {
	f.Add(AppendSequence(nil, nil))
	f.Add(AppendSequence(nil, []int64{1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, -1, 1 << 62, -1 << 63, 5, 5, 5}))
	f.Fuzz(func(t *testing.T, b []byte) {
		values, _, err := DecodeSequence(b, 100_000)
		if err != nil {
			return
		}
		again, rest, err := DecodeSequence(AppendSequence(nil, values), len(values))
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Empty(t, cmp.Diff(values, again, cmpopts.EquateEmpty()))
	})
}
