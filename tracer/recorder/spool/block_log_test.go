package spool

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// recordedTimes returns the gaps and durations of a thread's records, computed independently.
func recordedTimes(s *recordtest.Shim, thread uint32) (gaps, durations []int64) {
	seg := &record.Buffer{Words: s.Threads[thread].Words}
	last := int64(0)
	for at := record.BufferHeaderWords; at < len(seg.Words); {
		n := int(record.Low(seg.Words[at+record.ReservedWord])) / 8
		enter, exit := int64(seg.Words[at+record.EnterWord]), int64(seg.Words[at+record.ExitWord])
		if len(gaps) == 0 {
			last = enter
		}
		gaps, durations = append(gaps, enter-last), append(durations, exit-enter)
		last = exit
		at += n
	}
	return gaps, durations
}

// longProgram has two threads: one repeats a loop and one is irregular.
func longProgram(t testing.TB, seed uint64, calls int) *recordtest.Shim {
	random := rand.New(rand.NewPCG(seed, 3))
	s := recordtest.NewShim(t)
	s.Process.BootID = ""
	s.Init(0, 4)
	for range calls {
		thread := uint32(0)
		if random.IntN(20) == 0 {
			thread = 1
		}
		s.Clock += random.Uint64N(1 << random.IntN(30))
		if thread == 0 {
			s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
		} else {
			s.Call(1, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10,
				recordtest.Status{Source: random.Int64N(4), Tag: random.Int64N(1 << 20), Bytes: random.Int64N(1 << 30)})
		}
	}
	return s
}

func requireTimes(t *testing.T, s *recordtest.Shim, c *trace.Content, calls func(thread int) uint64) {
	t.Helper()
	require.LessOrEqual(t, c.Threads.Len(), len(s.Threads))
	for _, thread := range c.Threads.All() {
		wantGaps, wantDurations := recordedTimes(s, uint32(thread.Thread))
		n := min(calls(thread.Thread), uint64(len(wantGaps)))
		gaps, durations, err := thread.Times()
		require.NoError(t, err)
		require.True(t, slices.Equal(wantGaps[:n], gaps), "gaps of thread %d", thread.Thread)
		require.True(t, slices.Equal(wantDurations[:n], durations), "durations of thread %d", thread.Thread)
	}
}

// Times are read back unchanged from blocks of all sizes, from the log and from memory.
func TestTimesComeBackFromBlocks(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := longProgram(t, seed, 20_000)
			s.Process.BufferBytes = record.BufferHeaderBytes + 4096
			w, dir := startSpool(t, s)
			w.spool.recorder.Limits.BlockCalls = []uint64{1, 7, 100, 1000, 4096, 30_000, 1 << 16, 3}[seed]
			w.play(s, func(n int) {
				if n%(500+300*int(seed)) == 0 {
					w.spool.raw = checkpointBytes + w.spool.stateSize + 1
				}
			})
			c, _, err := Recover(dir)
			require.NoError(t, err)
			all := func(int) uint64 { return 1 << 40 }
			requireTimes(t, s, c, all)
			compare(t, wholeContent(s), c)
			c, report, err := snapshot(dir)
			require.NoError(t, err)
			require.Greater(t, report.Calls, uint64(19_000))
			requireTimes(t, s, c, func(thread int) uint64 { return c.Threads.At(thread).Calls })

			r := recorder.New(s.Process)
			r.Limits.BlockCalls = 512
			consumeAll(r, s)
			again, err := restored(s.Process, stateOf(r))
			require.NoError(t, err)
			c, err = again.Content()
			require.NoError(t, err)
			requireTimes(t, s, c, all)
		})
	}
}

// A file of the log gets a successor when it is long enough. Files that the packer has removed no
// longer count against the limit of the process. A missing block is an error; nothing is made up.
func TestBlockLogIsCutIntoFiles(t *testing.T) {
	s := longProgram(t, 1, 300_000)
	w, dir := startSpool(t, s)
	w.spool.recorder.Limits.BlockCalls = 1000
	w.play(s, func(n int) {
		if n%5000 == 0 {
			w.spool.raw = checkpointBytes + w.spool.stateSize + 1
		}
	})
	d, err := OpenPath(dir)
	require.NoError(t, err)
	defer d.Close()
	var sum int64
	for _, prefix := range []string{timesFile, valuesFile} {
		numbers, err := d.numbered(prefix)
		require.NoError(t, err)
		if prefix == timesFile {
			require.Greater(t, len(numbers), 1)
		}
		for _, number := range numbers {
			info, err := os.Stat(filepath.Join(dir, prefix+strconv.Itoa(number)))
			require.NoError(t, err)
			require.Less(t, info.Size(), int64(2*blockLogBytes))
			sum += info.Size()
		}
	}
	x, _, err := d.readBlockIndex()
	require.NoError(t, err)
	var indexed int64
	for _, list := range x.Blocks {
		for i := range list {
			indexed += int64(list[i].Size)
			b, err := x.Open(&list[i])
			require.NoError(t, err)
			require.Equal(t, list[i].Size, recorder.BlockHeader+len(b.Data[0])+len(b.Data[1]))
		}
	}
	require.Equal(t, sum, indexed)

	before, first := w.spool.diskBytes, w.spool.logs[0].present[0]
	require.NoError(t, os.Remove(filepath.Join(dir, "times-0")))
	w.spool.forgetRemoved()
	require.Equal(t, before-first, w.spool.diskBytes)
	_, _, err = Recover(dir)
	require.ErrorIs(t, err, recorder.ErrBlocks)
}

// Any bytes as a block are rejected, or yield what was written.
func FuzzBlock(f *testing.F) {
	b := &recorder.Block{Of: recorder.BlockOf{Thread: 1, Terminal: 2, Stream: 3}, First: 4, N: 5, Before: -6, Data: [2][]byte{{1, 2, 3}, {4}}}
	f.Add(b.Append(nil))
	f.Add((&recorder.Block{Of: recorder.TimesOf(7)}).Append(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		if b, size, ok := recorder.ParseBlock(text); ok {
			require.Equal(t, text[:size], b.Append(nil))
		}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "times-0"), text, 0o644))
		d, err := OpenPath(dir)
		require.NoError(t, err)
		defer d.Close()
		x, _, err := d.readBlockIndex()
		require.NoError(t, err)
		for of, list := range x.Blocks {
			for i := range list {
				_, err := x.Open(&list[i])
				require.NoError(t, err)
			}
			_, _ = x.Between(of, 0, list[len(list)-1].N)
		}
	})
}
