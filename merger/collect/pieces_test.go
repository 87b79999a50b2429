package collect

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPiecesAreAFile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, sizes := range [][]int{{}, {0}, {1, 5, 100}, {firstPieceBytes, 1}, {pieceBytes - 1, 3, pieceBytes}, {3*pieceBytes + 7, 0, 9}} {
		var p pieces
		var want []byte
		for _, n := range sizes {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			_, err := p.Write(b)
			require.NoError(t, err)
			want = append(want, b...)
		}
		require.EqualValues(t, len(want), p.size)
		require.Equal(t, digestOf(want), p.sha256())
		got, err := io.ReadAll(p.reader())
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		for range 50 {
			at, n := r.Int64N(p.size+2), r.IntN(pieceBytes)
			b := make([]byte, n)
			k, err := p.ReadAt(b, at)
			require.Equal(t, k < n, errors.Is(err, io.EOF))
			require.True(t, bytes.Equal(want[min(at, p.size):][:k], b[:k]))
			require.True(t, k == n || at+int64(k) >= p.size)
		}
		_, err = p.ReadAt(make([]byte, 1), -1)
		require.Error(t, err)
	}
}
