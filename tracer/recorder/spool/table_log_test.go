package spool

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// tablesProgram fills all tables: communicators that are created, named and freed, objects,
// requests, values of all lengths. all lengths.
func tablesProgram(t *testing.T, seed uint64, calls int) *recordtest.Shim {
	random := rand.New(rand.NewPCG(seed, 8))
	s := recordtest.NewShim(t)
	s.Process.BufferBytes = record.BufferHeaderBytes + 4096
	s.Process.BootID = ""
	s.Process.Constants = append(s.Process.Constants[:len(s.Process.Constants):len(s.Process.Constants)],
		record.Constant{Kind: "datatype", Name: "MPI_DATATYPE_NULL", Value: 0x0c000000})
	s.RandomProgram(random, calls/2)
	var kept []int64
	raw := int64(1 << 30)
	for n := range calls / 2 {
		switch random.IntN(5) {
		case 0:
			raw++
			kept = append(kept, raw)
			s.Call(0, "MPI_Type_contiguous", 0, random.Int64N(9), recordtest.TypeInt, raw)
		case 1:
			if len(kept) > 0 {
				k := random.IntN(len(kept))
				s.Call(0, "MPI_Type_free", 0, kept[k], 0x0c000000)
				kept = slices.Delete(kept, k, k+1)
			}
		case 2:
			raw++
			s.Call(0, "MPI_Comm_create_group", 0, recordtest.CommWorld, 0x48000000, random.Int64N(30), raw,
				recordtest.Description{Raw: raw, Own: 0, Size: 2, Group: recordtest.List{0, random.Int64N(4)}})
			s.Call(0, "MPI_Comm_set_name", 0, raw, recordtest.Str(fmt.Sprint("name ", random.IntN(20))))
			if random.IntN(2) == 0 {
				s.Call(0, "MPI_Comm_set_name", 0, recordtest.CommWorld, recordtest.Str(fmt.Sprint("world ", n)))
			}
			s.Call(0, "MPI_Comm_free", 0, raw, recordtest.CommNull)
		case 3:
			s.Call(1, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10,
				recordtest.Status{Source: random.Int64N(4), Tag: random.Int64N(1 << 20), Bytes: random.Int64N(1 << 30)})
		case 4:
			s.CallAt(0, uint64(0x401000+64*random.Int64N(50)), "MPI_Send", 0, 0x10, random.IntN(1000), recordtest.TypeInt, 1, 7, recordtest.CommWorld)
		}
	}
	return s
}

// checkpointOf reads the last checkpoint of a process.
func checkpointOf(t *testing.T, s *recordtest.Shim, dir string) *recorder.Recorder {
	d, err := OpenPath(dir)
	require.NoError(t, err)
	defer d.Close()
	last, err := d.readCheckpoint()
	require.NoError(t, err)
	return last.recorder
}

// At each checkpoint the tables that are read from the file are those of the process,
// whenever everything was written again; and no more than one file remains. again; and no
// more than one file is left.
func TestTablesAreWhatTheProcessKnew(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := tablesProgram(t, seed, 6000)
			w, dir := startSpool(t, s)
			w.spool.tables.minBytes = []int64{1, 300, 5000, 20_000, 1 << 20, 1 << 30}[seed]
			w.spool.recorder.Limits.Memory >>= seed % 3 * 5 // it generalizes, too
			checkpoints := 0
			w.spool.hook = func(step string) {
				if step != "buffers released" {
					return
				}
				checkpoints++
				// all of it is written: the next one has nothing else to say
				want := stateOf(w.spool.recorder)
				require.True(t, bytes.Equal(want, stateOf(checkpointOf(t, s, dir))), "checkpoint %d", checkpoints)
				files, err := filepath.Glob(filepath.Join(dir, tablesFile+"*"))
				require.NoError(t, err)
				require.Equal(t, []string{filepath.Join(dir, tablesName(w.spool.tables.at.Number))}, files)
			}
			w.play(s, func(n int) {
				if n%(100+70*int(seed)) == 0 {
					w.spool.raw = checkpointBytes + w.spool.stateSize + 1
				}
			})
			require.Greater(t, checkpoints, 8)
			if seed < 2 {
				require.Greater(t, w.spool.tables.at.Number, 1)
			}
			c, report, err := Recover(dir)
			require.NoError(t, err)
			require.Zero(t, report.Lost)
			if seed%3 == 0 {
				compare(t, wholeContent(s), c)
			}
		})
	}
}

// What could not be written is written with the next checkpoint.
func TestTablesThatCouldNotBeWritten(t *testing.T) {
	for _, least := range []int64{1, 1 << 20} {
		s := tablesProgram(t, 7, 4000)
		w, dir := startSpool(t, s)
		w.spool.tables.minBytes = least
		failed := 0
		var away string
		w.spool.hook = func(step string) {
			switch {
			case step == "state encoded" && w.spool.checkpoints%3 == 2 && failed < 20:
				failed++
				at, _ := w.spool.tables.next()
				away = filepath.Join(dir, tablesName(at.Number))
				_ = os.Rename(away, away+".away")
				require.NoError(t, os.Mkdir(away, 0o755))
			case step == "checkpoint begins" && away != "":
				require.NoError(t, os.Remove(away))
				_ = os.Rename(away+".away", away)
				away = ""
			}
		}
		failures := 0
		w.play(s, func(n int) {
			if n%50 == 0 {
				w.spool.raw = checkpointBytes + w.spool.stateSize + 1
			}
			if w.spool.failure != nil {
				failures++
			}
		})
		require.Equal(t, 20, failed)
		require.Positive(t, failures)
		require.NoError(t, w.spool.failure)
		c, report, err := Recover(dir)
		require.NoError(t, err)
		require.Zero(t, report.Lost)
		compare(t, wholeContent(s), c)
	}
}

// Damage to the valid part of the file is an error; damage after it is ignored.
// Damage to what counts of the file is an error; what follows on it does not matter.
func TestDamagedTables(t *testing.T) {
	s := tablesProgram(t, 3, 600)
	w, dir := startSpool(t, s)
	w.play(s, func(n int) {
		if n%100 == 0 {
			w.spool.raw = checkpointBytes + w.spool.stateSize + 1
		}
	})
	path := filepath.Join(dir, tablesName(0))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, whole, int(w.spool.tables.at.Bytes))
	recovered := func(content []byte) error {
		require.NoError(t, os.WriteFile(path, content, 0o644))
		_, _, err := Recover(dir)
		return err
	}
	for at := 0; at < len(whole); at += 37 {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x10
		require.ErrorIs(t, recovered(damaged), recorder.ErrCheckpoint, "byte %d", at)
	}
	require.ErrorIs(t, recovered(whole[:len(whole)-1]), recorder.ErrCheckpoint)
	require.NoError(t, recovered(append(slices.Clone(whole), 1, 2, 3)))
	require.NoError(t, os.Remove(path))
	_, _, err = Recover(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}
