package collect

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any range of a chain equals that of its concatenated objects; an object that is too short is an
// error.
func TestChainReadsAcrossObjects(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var c chain
		var all []byte
		for range random.IntN(5) {
			object := make([]byte, random.IntN(20))
			for i := range object {
				object[i] = byte(random.Int())
			}
			c.add(bytes.NewReader(object), int64(len(object)))
			all = append(all, object...)
		}
		require.EqualValues(t, len(all), c.size())
		for range 20 {
			b, want := make([]byte, random.IntN(30)), make([]byte, 30)
			at := random.Int64N(int64(len(all)) + 3)
			want = want[:len(b)]
			n, err := c.ReadAt(b, at)
			m, wantErr := bytes.NewReader(all).ReadAt(want, at)
			if len(b) == 0 {
				continue
			}
			require.Equal(t, m, n)
			require.Equal(t, wantErr, err)
			require.Equal(t, want, b)
		}
	}
	var c chain
	c.add(bytes.NewReader([]byte{1, 2}), 3)
	c.add(bytes.NewReader([]byte{4}), 1)
	_, err := c.ReadAt(make([]byte, 4), 0)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
