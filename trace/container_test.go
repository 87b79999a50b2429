package trace

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

func written(t testing.TB, c *Content) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, c))
	return b.Bytes()
}

func opened(t testing.TB, b []byte, options ...Option) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(b), int64(len(b)), options...)
	require.NoError(t, err)
	return r
}

func TestFileHoldsTheContent(t *testing.T) {
	for _, ranks := range []int{1, 2, 7} {
		c := stencil(ranks, 50, true)
		b := written(t, c)
		got, err := opened(t, b).Content()
		require.NoError(t, err)
		if diff := cmp.Diff(c, got, cmpopts.EquateEmpty(), listed); diff != "" {
			t.Fatal(diff)
		}
		require.Equal(t, b, written(t, got), "equal contents, different bytes")
	}
}

func TestEmptyContent(t *testing.T) {
	c := &Content{}
	got, err := opened(t, written(t, c)).Content()
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(c, got, cmpopts.EquateEmpty(), listed))
}

func TestSizesAddUp(t *testing.T) {
	b := written(t, stencil(64, 1000, true))
	s := opened(t, b).Sizes()
	t.Logf("%+v", s)
	require.Equal(t, int64(len(b)), s.Total)
	require.Equal(t, s.Total, s.Container+s.Signatures+s.Grammar+s.RankMap+s.Values+s.Timing+s.CallSites+s.Pointers+
		s.Metadata)
}

func TestTruncatedFileIsRefused(t *testing.T) {
	b := written(t, stencil(3, 20, true))
	for n := range b {
		_, err := Open(bytes.NewReader(b[:n]), int64(n))
		require.Error(t, err, "%d of %d bytes", n, len(b))
	}
}

// Checksums cover every byte of the file: a changed byte is noticed when its section is read.
func TestDamagedFileIsRefused(t *testing.T) {
	b := written(t, stencil(3, 20, true))
	for i := range b {
		if testing.Short() && i%8 > 0 {
			continue
		}
		damaged := bytes.Clone(b)
		damaged[i] ^= 0x10
		r, err := Open(bytes.NewReader(damaged), int64(len(damaged)))
		if err == nil {
			_, err = r.Content()
		}
		require.Error(t, err, "byte %d of %d", i, len(b))
	}
}

func TestMemoryLimit(t *testing.T) {
	c := stencil(2, 10, true)
	c.Sequences[0].Values = make([]int64, 20_000_000) // a few bytes in the file
	b := written(t, c)
	_, err := opened(t, b).Content()
	require.ErrorContains(t, err, "WithMemoryLimit")
	_, err = opened(t, b, WithMemoryLimit(1<<30)).Sequence(0)
	require.NoError(t, err)
	_, err = Open(bytes.NewReader(b), int64(len(b)), WithMemoryLimit(100))
	require.ErrorContains(t, err, "WithMemoryLimit")
}

// counted counts the reads of a file.
type counted struct {
	*bytes.Reader
	reads int
}

func (c *counted) ReadAt(b []byte, offset int64) (int, error) {
	c.reads++
	return c.Reader.ReadAt(b, offset)
}

func TestOpenTakesFewReads(t *testing.T) {
	small, large := written(t, stencil(3, 20, true)), written(t, stencil(64, 1000, true))
	for _, test := range []struct {
		file      []byte
		open, all int
	}{{small, 1, 2}, {large, 3, 4}} {
		r := &counted{Reader: bytes.NewReader(test.file)}
		reader, err := Open(r, int64(len(test.file)))
		require.NoError(t, err)
		require.Equal(t, test.open, r.reads)
		cursor, err := reader.Cursor(1, 0)
		require.NoError(t, err)
		for cursor.Next() {
		}
		require.NoError(t, cursor.Err())
		require.Equal(t, test.all, r.reads, "one block of timing; one of value sequences, if they are many")
	}
}
