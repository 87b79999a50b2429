package spool

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// The buffers of a thread are listed in the order in which it took them, also if the process was
// killed before it had written the epoch of a new one.
func TestOrderOfBuffers(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 13))
		dir := t.TempDir()
		const threads = 3
		var sequence [threads]uint64
		var last [threads]string
		epoch := uint64(2)
		write := func(name string, words []uint64) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), record.BytesOf(words), 0o600))
		}
		headers := map[string][]uint64{}
		for taken := uint64(1); taken <= 30; taken++ {
			thread := random.IntN(threads)
			words := make([]uint64, record.BufferHeaderWords)
			copy(record.BytesOf(words), rawlayout.BufferMagic)
			words[record.HeaderFormat] = record.Join(rawlayout.BufferFormat, uint32(thread))
			words[record.HeaderSequence], words[record.HeaderTaken], words[record.HeaderEpoch] = sequence[thread], taken, epoch
			last[thread] = fmt.Sprintf("%d.seg", random.Uint32())
			headers[last[thread]] = words
			sequence[thread]++
			epoch += random.Uint64N(3)
		}
		headers[last[random.IntN(threads)]][record.HeaderEpoch] = 0
		for name, words := range headers {
			write(name, words)
		}
		d, err := OpenPath(dir)
		require.NoError(t, err)
		files, err := d.listBuffers(reading{odd: func(err error) { t.Error(err) }})
		require.NoError(t, err)
		require.Len(t, files, len(headers))
		var next [threads]uint64
		for _, f := range files {
			require.Equal(t, next[f.header.Thread], f.header.Sequence, "seed %d", seed)
			next[f.header.Thread]++
		}
		require.NoError(t, d.Close())
	}
}
