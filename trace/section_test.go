package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// The dictionary is part of the format: with another one, no block of sections can be read.
func TestNamesNeverChange(t *testing.T) {
	sum := sha256.Sum256(names)
	require.Equal(t, "f84faff8c91ec32536366a1d5afd7e48dfa5bd6062526a62ed63bb6daf7d1336", hex.EncodeToString(sum[:]))
}

// A section may stand among others or in a block of its own, and only once.
func TestSectionsStandAnywhere(t *testing.T) {
	file := written(t, stencil(3, 20, true))
	entries, contents := blocksOf(t, file)
	apart := (&spoiledBlock{file, entries, contents, 0}).with(contents[0])
	whole, _ := wholeBlocksOf(t, apart)
	require.Greater(t, len(whole), 10)
	require.Equal(t, jsonLines(t, opened(t, file)), jsonLines(t, opened(t, apart)))
	for name, entry := range map[string]indexEntry{"a section": {kind: blockMeta}, "value sequences": {kind: blockSequences}} {
		of, all := wholeBlocksOf(t, file)
		for i, e := range entries {
			if e.kind == entry.kind {
				of, all = append(of, entry), append(all, contents[i])
			}
		}
		twice := (&spoiledBlock{file, of, all, 0}).with(all[0])
		_, err := Open(bytes.NewReader(twice), int64(len(twice)))
		require.ErrorContains(t, err, "two sections of type", name)
	}
}
