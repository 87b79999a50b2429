package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMixRoundTrip(t *testing.T) {
	for _, content := range [][]byte{{}, {0}, {255}, bytes.Repeat([]byte{7}, 1000), []byte("MPI_COMM_WORLD"), primer} {
		packed := encodeMix(content)
		got, err := decodeMix(packed, len(content))
		require.NoError(t, err)
		require.Equal(t, content, got)
		t.Log(len(content), len(packed))
	}
}

func FuzzMix(f *testing.F) {
	f.Add([]byte("MPI_COMM_WORLD"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = decodeMix(b, min(len(b)*8, 4096))
		got, err := decodeMix(encodeMix(b), len(b))
		require.NoError(t, err)
		require.True(t, bytes.Equal(b, got))
	})
}

func BenchmarkMix(b *testing.B) {
	content := primer
	packed := encodeMix(content)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		_, _ = decodeMix(packed, len(content))
	}
}

// The dictionary is part of the format: with another one, no block of sections can be read.
func TestNamesNeverChange(t *testing.T) {
	sum := sha256.Sum256(primer)
	require.Equal(t, "f84faff8c91ec32536366a1d5afd7e48dfa5bd6062526a62ed63bb6daf7d1336", hex.EncodeToString(sum[:]))
}
