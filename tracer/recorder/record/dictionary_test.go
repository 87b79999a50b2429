package record_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// randomEntries appends entries of up to n bytes to b.
func randomEntries(b []byte, rng *rand.Rand, n int) []byte {
	for limit := len(b) + n; len(b) < limit; {
		kind, words := uint64(rawlayout.EntryAllocation), 5
		if rng.IntN(2) == 0 {
			kind, words = rawlayout.EntryPath, rng.IntN(40)
		}
		b = binary.NativeEndian.AppendUint64(b, uint64(8+8*words)|kind<<32)
		for range words {
			b = binary.NativeEndian.AppendUint64(b, rng.Uint64N(1<<31))
		}
	}
	return b
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// The memory of a dictionary is bounded, and estimated. Whenever it is read, as a file that grows
// or at once, the same entries are in it, and it reports that others are missing.
func TestMemoryOfTheDictionary(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		path := filepath.Join(t.TempDir(), record.DictionaryFile)
		f, err := os.Create(path)
		require.NoError(t, err)
		defer f.Close()
		var content []byte
		var following record.Dictionary
		before := heap()
		for len(content) < 2*record.MaxDictionary {
			content = randomEntries(content, rng, 4<<20)
			require.NoError(t, os.WriteFile(path, content[:len(content)-rng.IntN(9)], 0o600))
			following.Follow(f)
			if len(content) < record.MaxDictionary/4 {
				require.False(t, following.Full)
			}
		}
		taken := heap() - before - cap(content)
		require.True(t, following.Full)
		require.LessOrEqual(t, following.Memory(), record.MaxDictionary)
		require.Greater(t, following.Memory(), record.MaxDictionary-1<<20)
		require.InEpsilon(t, taken, following.Memory(), 0.5)
		var whole record.Dictionary
		whole.Follow(f)
		require.Equal(t, following.Paths, whole.Paths)
		require.Equal(t, following.Allocations, whole.Allocations)
		require.True(t, whole.Full)
		runtime.KeepAlive(content)
	}
}
