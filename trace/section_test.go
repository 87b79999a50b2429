package trace

import (
	"bytes"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/stretchr/testify/require"
)

// A section may stand among others or in a block of its own, and only once.
func TestSectionsStandAnywhere(t *testing.T) {
	file := written(t, stencil(3, 20, true))
	entries, contents := blocksOf(t, file)
	apart := (&spoiledBlock{file, entries, contents, 0}).with(contents[0])
	whole, _ := wholeBlocksOf(t, apart)
	require.Greater(t, len(whole), 10)
	require.Equal(t, jsonLines(t, opened(t, file)), jsonLines(t, opened(t, apart)))
	for name, entry := range map[string]codec.Entry{"a section": {Kind: blockMeta}, "value sequences": {Kind: blockSequences}} {
		of, all := wholeBlocksOf(t, file)
		for i, e := range entries {
			if e.Kind == entry.Kind {
				of, all = append(of, entry), append(all, contents[i])
			}
		}
		twice := (&spoiledBlock{file, of, all, 0}).with(all[0])
		_, err := Open(bytes.NewReader(twice), int64(len(twice)))
		require.ErrorContains(t, err, "two sections of type", name)
	}
}
