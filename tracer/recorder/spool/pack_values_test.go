package spool

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// receivingProgram receives messages that are almost all different, and for some time from
// another call site.
func receivingProgram(t testing.TB, seed uint64, calls int) *recordtest.Shim {
	random := rand.New(rand.NewPCG(seed, 4))
	s := recordtest.NewShim(t)
	s.Process.BootID = ""
	s.Init(0, 4)
	for i := range calls {
		s.Clock += random.Uint64N(1000)
		name := "MPI_Recv"
		if i < calls/7 { // its streams end, and are no chunk
			name = "MPI_Probe"
		}
		result := recordtest.Status{Source: random.Int64N(4), Tag: random.Int64N(1 << 20), Bytes: random.Int64N(1 << 30)}
		if name == "MPI_Probe" {
			s.Call(0, name, 0, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, result)
		} else {
			s.Call(0, name, 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, result)
		}
	}
	return s
}

// A trace is the same whether values were coded at random times while the process continued or at
// its end, even if a packer was killed. The log does not grow with the calls.
func TestValuesArePackedWhileTheProcessGoesOn(t *testing.T) {
	calls, seeds := 400_000, uint64(2)
	if testing.Short() {
		calls, seeds = 150_000, 1
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 9))
		s := receivingProgram(t, seed, calls)
		want := wholeContent(s)
		w, dir := startSpool(t, s)
		var coded uint64
		most := 0
		w.play(s, func(n int) {
			if n%10_000 == 0 {
				w.spool.raw = checkpointBytes + w.spool.stateSize + 1
			}
			if random.IntN(15_000) != 0 {
				return
			}
			if random.IntN(2) == 0 { // killed while it wrote
				require.NoError(t, os.WriteFile(filepath.Join(dir, "left.new"), []byte("CAIRN"), 0o644))
			}
			left, _ := os.ReadFile(filepath.Join(dir, leftFile))
			name := filepath.Join(dir, w.spool.logs[1].file(w.spool.logs[1].number-1))
			old, _ := os.ReadFile(name)
			done := packed(t, dir)
			coded += done.Values
			if done.Values > 0 {
				switch random.IntN(3) {
				case 0: // killed before it removed the last file
					require.NoError(t, os.WriteFile(name, old, 0o644))
				case 1: // and before it wrote what is left
					if _, err := os.Lstat(name); err != nil && len(left) > 0 && done.Before < 2*blockLogBytes {
						require.NoError(t, os.WriteFile(name, old, 0o644))
						require.NoError(t, os.WriteFile(filepath.Join(dir, leftFile), left, 0o644))
					}
				}
			}
			_, report, err := snapshot(dir)
			require.NoError(t, err)
			require.Zero(t, report.Lost)
			files, err := filepath.Glob(filepath.Join(dir, valuesFile+"*"))
			require.NoError(t, err)
			most = max(most, len(files))
		})
		require.Greater(t, coded, uint64(calls))
		require.LessOrEqual(t, most, 4)
		for range 2 {
			c, report, err := Recover(dir)
			require.NoError(t, err)
			require.Zero(t, report.Lost)
			want.Ranks, want.Meta.Notes = c.Ranks, c.Meta.Notes
			require.True(t, bytes.Equal(written(t, want), written(t, c)))
			packed(t, dir)
		}
	}
}

// Missing chunks of a lost part are an error; nothing is made up.
func TestLostChunks(t *testing.T) {
	s := receivingProgram(t, 1, 200_000)
	w, dir := startSpool(t, s)
	w.play(s, func(n int) {
		if n%10_000 == 0 {
			w.spool.raw = checkpointBytes + w.spool.stateSize + 1
		}
	})
	require.GreaterOrEqual(t, packed(t, dir).Values, uint64(2*codec.SequenceChunk))
	_, _, err := Recover(dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, partFile+"0")))
	_, _, err = Recover(dir)
	require.ErrorIs(t, err, recorder.ErrBlocks)
}
