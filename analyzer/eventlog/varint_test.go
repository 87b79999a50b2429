package eventlog

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnsigned: numbers of every length are decoded like in the standard library, also at the end
// of the buffer.
func TestUnsigned(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for bits := range 65 {
		for range 50 {
			v := random.Uint64()
			if bits < 64 {
				v &= 1<<bits - 1
			}
			for _, v := range []uint64{v, math.MaxUint64 >> (64 - bits)} {
				alone := binary.AppendUvarint([]byte{0xff}, v)
				for _, b := range [][]byte{alone, binary.LittleEndian.AppendUint64(alone, random.Uint64())} {
					got, next := unsigned(b, 1)
					require.Equal(t, v, got)
					require.Equal(t, len(alone), next)
				}
				alone = binary.AppendVarint([]byte{0xff}, int64(v))
				got, next := signed(alone, 1)
				require.Equal(t, int64(v), got)
				require.Equal(t, len(alone), next)
			}
		}
	}
}
