package spool

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// irregularProgram receives messages of all sizes from anywhere: no results recur.
func irregularProgram(t *testing.T, calls int) *recordtest.Shim {
	random := rand.New(rand.NewPCG(5, 5))
	s := recordtest.NewShim(t)
	s.Process.BootID = ""
	s.Init(0, 4)
	for range calls {
		s.Call(0, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10,
			recordtest.Status{Source: random.Int64N(4), Tag: random.Int64N(1 << 20), Bytes: random.Int64N(1 << 30)})
	}
	return s
}

// Values that do not repeat go to the file beside the checkpoints: neither the state nor the memory
// grows with them.
func TestIrregularValuesGoToTheFile(t *testing.T) {
	s := irregularProgram(t, 400_000)
	w, dir := startSpool(t, s)
	written := w.play(s, nil)
	require.Greater(t, w.spool.checkpoints, uint64(3))
	require.Less(t, w.spool.stateSize, int64(512<<10), "of which times that are no block yet are most")
	require.GreaterOrEqual(t, len(w.spool.logs[1].present), 2)
	require.Less(t, w.spool.recorder.Memory(), 2<<20, "no more than comes between two checkpoints")
	c, report, err := Recover(dir)
	require.NoError(t, err)
	require.Equal(t, uint64(written), report.Calls)
	compare(t, wholeContent(s), c)

	require.NoError(t, os.Truncate(filepath.Join(dir, "values-1"), w.spool.logs[1].present[1]/2))
	_, _, err = Recover(dir)
	require.ErrorIs(t, err, recorder.ErrBlocks, "what is missing of the values is not made up")
}

// A state that has become too large ends tracing with a reason; the rest can be recovered.
func TestStateHasALimit(t *testing.T) {
	s := irregularProgram(t, 100_000)
	w, dir := startSpool(t, s)
	w.spool.maxState = 100
	written := w.play(s, nil)
	require.ErrorContains(t, w.refused, "hardly repeat")
	require.Less(t, written, 100_000)
	c, report, err := Recover(dir)
	require.NoError(t, err)
	require.Equal(t, uint64(written), report.Calls)
	require.Len(t, c.Meta.Notes, 1)
	require.Contains(t, c.Meta.Notes[0], "the calls of this process hardly repeat")
}
