package spool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// A file of 1 GiB in the place of any of the tracer's files costs nobody that memory: neither the
// compressor, nor a recovery, nor a snapshot. What they leave out is named, or an error.
func TestLargeFiles(t *testing.T) {
	const most = 16 << 20
	for _, c := range []struct {
		large int64
		names []string
	}{
		{1 << 30, []string{"0.seg", "ring-0.seg", "ring-1.seg", "copies-0.seg", "once-0.seg", "state-0", "state-1", "tables-0", "times-0", "values-0",
			record.DictionaryFile, observed.FileName, processFile, usageFile}},
		{maxStateFile, []string{"state-0", "state-1", "tables-0"}}, // not too large by itself
	} {
		for _, name := range c.names {
			t.Run(fmt.Sprint(name, "/", c.large), func(t *testing.T) { testLargeFile(t, name, c.large, most) })
		}
	}
}

func testLargeFile(t *testing.T, name string, large, most int64) {
	s := victimProgram(t)
	w, dir := startSpool(t, s)
	w.play(s, func(n int) {
		if n%100 == 0 {
			w.spool.raw = checkpointBytes + w.spool.stateSize + 1
		}
	})
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	if strings.HasSuffix(name, bufferSuffix) && info.Size() == 0 {
		// its thread is new, and all of the file is records
		words := make([]uint64, record.BufferHeaderWords)
		copy(record.BytesOf(words), rawlayout.BufferMagic)
		words[record.HeaderFormat] = record.Join(rawlayout.BufferFormat, 77)
		words[record.HeaderUsed], words[record.HeaderTaken] = uint64(large), 1
		_, err = f.WriteAt(record.BytesOf(words), 0)
		require.NoError(t, err)
	} else if strings.HasSuffix(name, bufferSuffix) {
		_, err = f.WriteAt(record.BytesOf([]uint64{uint64(large)}), rawlayout.BufferUsedAt)
		require.NoError(t, err)
	}
	require.NoError(t, f.Truncate(large))
	for way, read := range map[string]func() error{
		"recovery": func() error { _, _, err := Recover(dir); return err },
		"snapshot": func() error { _, _, err := snapshot(dir); return err },
		"compressor": func() error {
			d, err := OpenPath(dir)
			require.NoError(t, err)
			defer d.Close()
			again, err := d.Compress(nil)
			if err == nil {
				_, err = again.Step(RingState{Filled: uint64(large)})
			}
			return err
		},
	} {
		var err error
		took := allocated(func() { err = read() })
		t.Logf("%s: %d MiB: %v", way, took>>20, err)
		require.Less(t, took, most, way)
		if err != nil && !errors.Is(err, plainfile.ErrOdd) {
			require.ErrorContains(t, err, name)
		}
	}
}

// Records of any size are read, up to the first that is none.
func TestLargeRecords(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 3))
		words := recordtest.NewBuffer(1, 0)
		words[record.HeaderTaken] = 1
		last := 0
		for range 5 + random.IntN(20) {
			last = len(words)
			size := record.HeaderWords + random.IntN(1<<random.IntN(21))
			words = append(words, make([]uint64, size)...)
			words[last] = uint64(size * 8)
			words[last+record.ReservedWord] = record.Join(uint32(size*8), rawlayout.Committed)
			words[len(words)-1] |= seed << 32
		}
		damaged := seed%2 == 1
		if damaged {
			words[last+record.ReservedWord] = 0
			words = append(words, make([]uint64, 20<<20/8)...)
		}
		words[record.HeaderUsed] = uint64(len(words)-record.BufferHeaderWords) * 8
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "0.seg"), record.BytesOf(words), 0o644))
		d, err := OpenPath(dir)
		require.NoError(t, err)
		defer d.Close()
		b, err := d.readBuffer(&bufferFile{bufferPlace: bufferPlace{name: "0.seg"}}, false, &bufferMemory{})
		require.NoError(t, err)
		if damaged {
			require.Less(t, len(b.Words), len(words))
			words = words[:len(b.Words)]
			require.GreaterOrEqual(t, len(words), last)
		}
		require.True(t, slices.Equal(words, b.Words), "seed %d", seed)
	}
}
