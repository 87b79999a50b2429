//go:build mpi

package verify

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Whatever is in the file in which the compressor speaks to a process, the program ends as without
// it. Where it is not the compressor's all calls are recorded.
func TestAnythingForTheCompressor(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "hasty.c")
	require.NoError(t, os.WriteFile(source, []byte(hasty), 0o644))
	for i, magic := range []string{"", rawlayout.CompressorMagic} {
		implementation := shimtest.Implementations[i]
		t.Run(fmt.Sprintf("%s/%q", implementation, magic), func(t *testing.T) {
			program := shimtest.Compile(t, implementation, source, "-pthread")
			tracer := shimtest.NewTracer(t, map[string]any{"segment_bytes": 16384})
			tracer.Alone = true
			over := make(chan struct{})
			var writing sync.WaitGroup
			writing.Go(func() { scribble(t, tracer, magic, over) })
			r := tracer.Run(t, shimtest.Launch(implementation, 2, program, "8000")...)
			close(over)
			writing.Wait()
			require.Zero(t, r.Code, r.Signal+r.Stderr)
			calls, lost := uint64(0), uint64(0)
			for _, dir := range tracer.Processes(t) {
				_, report, err := spool.Recover(dir)
				require.NoError(t, err)
				calls, lost = calls+report.Calls, lost+report.Lost
			}
			if magic == "" {
				require.Equal(t, saidCalls(t, r.Stdout, 0)+saidCalls(t, r.Stdout, 1), calls)
				require.Zero(t, lost)
			}
		})
	}
}

// writeAnswer writes to the part of a process's file of observations that is the compressor's.
func writeAnswer(dir string, b []byte) {
	names, _ := filepath.Glob(filepath.Join(dir, "observed"))
	onTmpfs, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), spool.TmpfsLink, filepath.Base(dir), "observed"))
	for _, name := range append(names, onTmpfs...) {
		if f, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			_, _ = f.WriteAt(b[:min(len(b), rawlayout.ObservedContext-rawlayout.ObservedAnswer)], rawlayout.ObservedAnswer)
			_ = f.Close()
		}
	}
}

// scribble writes random bytes, of random length, to the files of all processes until it is over.
func scribble(t *testing.T, tracer *shimtest.Tracer, magic string, over chan struct{}) {
	random := rand.New(rand.NewPCG(3, 9))
	for {
		for _, dir := range tracer.Processes(t) {
			b := make([]byte, random.IntN(4096))
			for i := range b {
				b[i] = byte(random.Uint32() >> random.IntN(33))
			}
			copy(b, magic)
			if len(b) > rawlayout.CompressorStoppedAt && random.IntN(100) > 0 {
				b[rawlayout.CompressorStoppedAt] = 0 // else tracing stops soon
			}
			writeAnswer(dir, b)
		}
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
