package trace

import (
	"bytes"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/stretchr/testify/require"
)

// A list of chapters names threads that exist, in order, each with at least one chapter.
func TestDamagedChaptersAreRefused(t *testing.T) {
	file := written(t, stencil(2, 3, true))
	for name, list := range map[string]struct {
		rows, counts, calls []int64
	}{
		"no chapters":         {[]int64{0}, []int64{0}, []int64{0}},
		"a thread before all": {[]int64{-1}, []int64{1}, []int64{1}},
		"a thread behind all": {[]int64{2}, []int64{1}, []int64{1}},
		"fewer numbers":       {[]int64{0}, nil, []int64{1}},
		"fewer calls":         {[]int64{0}, []int64{1}, nil},
	} {
		entries, contents := wholeBlocksOf(t, file)
		var b []byte
		for _, column := range [][]int64{list.rows, list.counts, list.calls} {
			b = codec.AppendSequence(b, column)
		}
		b = codec.AppendLists(b, make([][]int64, len(list.rows)))
		entries, contents = append(entries, codec.Entry{Kind: blockChapters}), append(contents, b)
		damaged := (&spoiledBlock{file, entries, contents, 0}).with(contents[0])
		_, err := Open(bytes.NewReader(damaged), int64(len(damaged)))
		require.ErrorIs(t, err, errChapters, name)
	}
}
