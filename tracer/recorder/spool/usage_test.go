package spool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The resources of tracing are known whenever the process ends. Without the file they are unknown.
func TestWhatTracingTook(t *testing.T) {
	s := irregularProgram(t, 100_000)
	w, dir := startSpool(t, s)
	largest := int64(0)
	w.play(s, func(n int) {
		if n == 50_000 {
			c, _, err := Recover(dir)
			require.NoError(t, err)
			require.Nil(t, c.Ranks.At(0).Tracer)
		}
		if n > 50_000 && n%1000 == 0 {
			largest = max(largest, w.spool.diskBytes+w.spool.stateDisk[0]+w.spool.stateDisk[1])
			w.spool.NoteUsage(Stalls{uint64(n / 10_000), uint64(n), 7 << 13})
		}
	})
	require.Positive(t, w.spool.checkpoints)
	c, _, err := Recover(dir)
	require.NoError(t, err)
	took := c.Ranks.At(0).Tracer
	require.NotNil(t, took)
	require.EqualValues(t, 10, took.Stalls)
	require.InDelta(t, 100_000, took.StalledNS, 4096)
	require.EqualValues(t, 7<<13, took.LongestStallNS)
	require.InDelta(t, largest, took.MostSpool, float64(largest/100+1<<16))
	require.Greater(t, took.MemoryBytes, int64(1<<20))
	require.GreaterOrEqual(t, took.MostMemory, took.MemoryBytes)
	onDisk := int64(0)
	files, err := filepath.Glob(filepath.Join(dir, "*-*"))
	require.NoError(t, err)
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && filepath.Ext(file) != bufferSuffix {
			onDisk += info.Size()
		}
	}
	require.Greater(t, took.WrittenBytes, onDisk/2, "states are written again")

	for _, damage := range []func(b []byte) []byte{
		func(b []byte) []byte { return b[:20] }, func(b []byte) []byte { b[0] ^= 1; return b },
	} {
		b, err := os.ReadFile(filepath.Join(dir, usageFile))
		require.NoError(t, err)
		require.Nil(t, decodeUsage(damage(b)))
	}
}
