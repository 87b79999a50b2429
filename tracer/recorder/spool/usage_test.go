package spool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The resources of the compressor are known whenever the process ends. Without the file they are
// unknown.
func TestWhatTracingTook(t *testing.T) {
	s := irregularProgram(t, 100_000)
	w, dir := startSpool(t, s)
	largest, memory := int64(0), 0
	w.play(s, func(n int) {
		if n == 10 {
			c, _, err := Recover(dir)
			require.NoError(t, err)
			require.Nil(t, c.Ranks.At(0).Tracer)
		}
		largest = max(largest, w.spool.inBuffers+w.spool.diskBytes+w.spool.stateDisk[0]+w.spool.stateDisk[1])
		memory = max(memory, w.spool.recorder.Memory())
	})
	require.Positive(t, w.spool.checkpoints)
	c, _, err := Recover(dir)
	require.NoError(t, err)
	took := c.Ranks.At(0).Tracer
	require.NotNil(t, took)
	require.InDelta(t, largest, took.MostSpool, float64(largest/100+1<<16))
	require.Greater(t, took.MemoryBytes, int64(100<<10))
	require.InDelta(t, memory, took.MostMemory, float64(memory/10))
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
