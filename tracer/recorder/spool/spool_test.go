package spool

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A spoolWriter writes the records of a fake shim into the buffers of a spool, as the shim does.
type spoolWriter struct {
	t       testing.TB
	spool   *Spool
	own     uint32 // number of buffers created before the core was loaded
	threads map[uint32]*spoolThread
}

// maxOwn is the number of buffers that the shim creates.
const maxOwn = 3

// makeOwn makes a buffer as the shim does.
func (w *spoolWriter) makeOwn() (unsafe.Pointer, uint64) {
	w.t.Helper()
	size := w.spool.process.BufferBytes
	if size == 0 {
		size = defaultBufferBytes
	}
	data, err := mapNew(filepath.Join(w.spool.dir, fmt.Sprintf(shimBuffer, w.own)), size)
	if err != nil {
		w.t.Fatal(err)
	}
	buffer, capacity := unsafe.Pointer(unsafe.SliceData(data)), uint64(size-record.BufferHeaderBytes)
	w.spool.Adopt(w.own, buffer, capacity)
	w.own++
	return buffer, capacity
}

type spoolThread struct {
	words []uint64 // the mapped buffer
	at    int
	short recordtest.Shortener
}

// write appends one record, asking for buffers as needed; false when tracing has stopped.
func (w *spoolWriter) write(thread uint32, rec []uint64) bool {
	t := w.threads[thread]
	if t == nil {
		t = &spoolThread{}
		w.threads[thread] = t
	}
	if t.at+len(rec) > len(t.words) {
		var full unsafe.Pointer
		if t.words != nil {
			full = unsafe.Pointer(unsafe.SliceData(t.words))
		}
		fresh, capacity, err := w.next(thread, full, uint64(len(rec)*8))
		if err != nil {
			return false
		}
		if capacity < uint64(len(rec)*8) {
			w.t.Fatalf("capacity %d for a record of %d bytes", capacity, len(rec)*8)
		}
		t.words = unsafe.Slice((*uint64)(fresh), record.BufferHeaderWords+int(capacity/8))
		t.at = record.BufferHeaderWords
		t.short.Begin()
		t.words[record.HeaderSample], t.words[record.HeaderSample+1], t.words[record.HeaderSample+2] = 1, 1, 1
	}
	t.at += copy(t.words[t.at:], t.short.Next(t.words[:t.at], rec))
	t.words[record.HeaderUsed] = uint64(t.at-record.BufferHeaderWords) * 8
	return true
}

// next hands over the full buffer of a thread and returns a fresh one, as the C part of
// tracer/core does.
func (w *spoolWriter) next(thread uint32, full unsafe.Pointer, minimum uint64) (unsafe.Pointer, uint64, error) {
	sequence := uint64(0)
	if full != nil {
		sequence = unsafe.Slice((*uint64)(full), record.BufferHeaderWords)[record.HeaderSequence] + 1
		w.spool.Full(thread, full)
	}
	var fresh unsafe.Pointer
	var capacity uint64
	if w.own < maxOwn && minimum < 2048 {
		fresh, capacity = w.makeOwn()
	} else {
		var err error
		if fresh, capacity, err = w.spool.Fresh(minimum); err != nil {
			w.spool.Stop(err)
			return nil, 0, err
		}
	}
	header := unsafe.Slice((*uint64)(fresh), record.BufferHeaderWords)
	copy(header, recordtest.NewBuffer(thread, sequence))
	w.spool.Given(thread, fresh)
	return fresh, capacity, nil
}

// play writes everything that the fake shim has, in the order of epochs, and calls between
// after every record.
func (w *spoolWriter) play(s *recordtest.Shim, between func(n int)) (written int) {
	at := map[uint32]int{}
	for {
		best, epoch := uint32(0), ^uint64(0)
		for n, t := range s.Threads {
			a := max(at[n], record.BufferHeaderWords)
			if a < len(t.Words) && (t.Words[a+record.EpochWord] < epoch || t.Words[a+record.EpochWord] == epoch && n < best) {
				best, epoch = n, t.Words[a+record.EpochWord]
			}
		}
		if epoch == ^uint64(0) {
			return written
		}
		a := max(at[best], record.BufferHeaderWords)
		words := s.Threads[best].Words
		n := int(record.Low(words[a+record.ReservedWord])) / 8
		if !w.write(best, words[a:a+n]) {
			return written
		}
		at[best] = a + n
		written++
		if between != nil {
			between(written)
		}
	}
}

func startSpool(t testing.TB, s *recordtest.Shim) (*spoolWriter, string) {
	t.Helper()
	return openSpool(t, s, t.TempDir())
}

// openSpool turns a directory into that of a process, as the shim does, and opens it.
func openSpool(t testing.TB, s *recordtest.Shim, dir string) (*spoolWriter, string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, processFile), s.JSON(), 0o600); err != nil {
		t.Fatal(err)
	}
	spool, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &spoolWriter{t: t, spool: spool, threads: map[uint32]*spoolThread{}}, dir
}

// wholeContent is the trace of everything that a fake shim wrote, made without a spool.
func wholeContent(s *recordtest.Shim) *trace.Content {
	r := recorder.New(s.Process)
	consumeAll(r, s)
	return recordtest.InMemory(s.T)(r.Content())
}

func consumeAll(r *recorder.Recorder, s *recordtest.Shim) {
	var sources []*recorder.Source
	for n := range uint32(len(s.Threads)) {
		src := r.NewSource(n)
		src.Closed, src.Ended = true, true
		src.Add(&record.Buffer{Thread: n, Sequence: s.Threads[n].Sequence, Words: s.Threads[n].Words})
		sources = append(sources, src)
	}
	r.Consume(sources)
}

// ignoreHow ignores what a recovery adds or numbers in another way: terminals are numbered in order
// of first sight, which depends on how threads interleave.
var ignoreHow = []cmp.Option{
	cmpopts.IgnoreFields(timing.Clock{}, "Samples"),
	cmpopts.IgnoreFields(trace.Rank{}, "EndedEarly"),
}

func compare(t *testing.T, want, got *trace.Content) {
	t.Helper()
	recordtest.InMemory(t)(got, nil)
	for i := range want.Threads.Len() {
		recordtest.Expect(t, recordtest.Lines(t, got, i), recordtest.Lines(t, want, i)...)
	}
	if d := cmp.Diff(want.Ranks.List(), got.Ranks.List(), ignoreHow...); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want.Communicators, got.Communicators); d != "" {
		t.Error(d)
	}
}

// A process that dies at any moment is recovered whole from checkpoint and buffers, however often
// it checkpointed.
func TestRecover(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := recordtest.NewShim(t)
			// small buffers: one per few dozen records
			s.Process.BufferBytes = record.BufferHeaderBytes + 4096
			s.Process.BootID = ""
			s.RandomProgram(rand.New(rand.NewPCG(seed, 2)), 3000)
			w, dir := startSpool(t, s)
			checkpoints := 0
			w.play(s, func(n int) {
				if n%int(400+100*seed) == 0 { // as if 4 MiB had gone by
					if err := w.spool.checkpoint(); err != nil {
						t.Error(err)
					}
					checkpoints++
				}
			})
			c, report, err := Recover(dir)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, wholeContent(s), c)
			if !report.Checkpoint || checkpoints < 3 || report.Lost != 0 || len(report.Notes) != 0 {
				t.Errorf("%d checkpoints, report %+v", checkpoints, report)
			}
			if !strings.HasPrefix(report.EndedEarly, "after MPI_") {
				t.Error(report.EndedEarly)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
			if n := len(files); n > 150 {
				t.Errorf("%d buffer files: they are not reused", n)
			}
		})
	}
}

func TestSnapshotOfALivingProcess(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Process.BufferBytes = record.BufferHeaderBytes + 4096
	s.RandomProgram(rand.New(rand.NewPCG(1, 2)), 1500)
	w, dir := startSpool(t, s)
	last := uint64(0)
	w.play(s, func(n int) {
		if n%97 != 0 {
			return
		}
		c, report, err := Snapshot(dir)
		if err != nil {
			t.Fatal(err)
		}
		if report.Calls != uint64(n) || report.Calls < last || c.Ranks.At(0).EndedEarly != "" {
			t.Errorf("after %d calls the snapshot has %d, %q", n, report.Calls, c.Ranks.At(0).EndedEarly)
		}
		last = report.Calls
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	})
}

func TestSpoolLimit(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Process.BufferBytes = record.BufferHeaderBytes + 4096
	s.Process.SpoolLimitBytes = 40_000
	s.RandomProgram(rand.New(rand.NewPCG(1, 2)), 20_000)
	w, dir := startSpool(t, s)
	written := w.play(s, nil)
	c, report, err := Recover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if report.Calls != uint64(written) {
		t.Errorf("%d calls written, %d recovered", written, report.Calls)
	}
	var bytes int64
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if f.Name() != processFile {
			bytes += info.Size()
		}
	}
	if bytes > s.Process.SpoolLimitBytes {
		t.Errorf("%d bytes in the spool, limit %d", bytes, s.Process.SpoolLimitBytes)
	}
	if len(c.Meta.Notes) != 1 || !strings.Contains(c.Meta.Notes[0], "spool limit of 40000 bytes") {
		t.Error(c.Meta.Notes)
	}
	if _, _, err := w.spool.Fresh(100); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
}

func TestAlive(t *testing.T) {
	dir := t.TempDir()
	if alive, err := Alive(dir); alive || err != nil {
		t.Error(alive, err)
	}
	// the lock of another process
	command := exec.Command(os.Args[0], "-test.run=^TestHoldLock$")
	command.Env = append(os.Environ(), "CAIRN_TEST_LOCK="+dir)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 6)
	if _, err := out.Read(ready); err != nil || string(ready) != "locked" {
		t.Fatal(string(ready), err)
	}
	if alive, err := Alive(dir); !alive || err != nil {
		t.Error("a living process counts as dead", err)
	}
	in.Close()
	_ = command.Wait()
	if alive, err := Alive(dir); alive || err != nil {
		t.Error("a dead process counts as living", err)
	}
}

// TestHoldLock is the other process of TestAlive.
func TestHoldLock(t *testing.T) {
	dir := os.Getenv("CAIRN_TEST_LOCK")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	fmt.Print("locked")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func TestStopLeavesItsReason(t *testing.T) {
	s := recordtest.NewShim(t)
	w, dir := startSpool(t, s)
	s.Init(0, 2)
	w.play(s, nil)
	// a record that no buffer has room for
	if _, _, err := w.next(0, nil, maxBufferBytes); err == nil {
		t.Fatal("a buffer for a record that is too large")
	}
	_, report, err := Recover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if report.Calls != 1 || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "tracing stopped") {
		t.Errorf("%+v", report)
	}
}

func TestBadProcessDirectories(t *testing.T) {
	if _, _, err := Recover(t.TempDir()); err == nil {
		t.Error("an empty directory is no process")
	}
	dir := t.TempDir()
	for range 2 { // without process.json, and with a bad one
		if _, err := Open(dir); err == nil {
			t.Error("opened")
		}
		if err := os.WriteFile(filepath.Join(dir, processFile), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// a process that died before its first buffer
	s := recordtest.NewShim(t)
	_, dir = startSpool(t, s)
	c, report, err := Recover(dir)
	if err != nil || report.EndedEarly != "before MPI_Init" || c.Ranks.Len() != 1 {
		t.Error(report, err)
	}
}

// The processes of a pod share one limit, in whatever order they start, and what one of them
// removes is available to the others.
func TestSharedSpoolLimit(t *testing.T) {
	const limit = 600_000
	spool := t.TempDir()
	root, err := os.OpenRoot(spool)
	require.NoError(t, err)
	_, err = budget.Make(root, limit)
	require.NoError(t, err)
	usage := func() (bytes int64) {
		require.NoError(t, filepath.WalkDir(spool, func(_ string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && entry.Name() != processFile {
				info, infoErr := entry.Info()
				require.NoError(t, infoErr)
				bytes += info.Size()
			}
			return err
		}))
		return bytes
	}
	var writers []*spoolWriter
	for n := range 3 {
		s := recordtest.NewShim(t)
		s.Process.BufferBytes = record.BufferHeaderBytes + 4096
		s.Process.SharedSpool = 1
		s.Process.SpoolLimitBytes = 10_000 // holds only where there is no account
		s.RandomProgram(rand.New(rand.NewPCG(uint64(n), 2)), 20_000)
		dir := filepath.Join(spool, fmt.Sprint(n))
		require.NoError(t, os.Mkdir(dir, 0o777))
		w, _ := openSpool(t, s, dir)
		w.own = maxOwn
		w.play(s, nil)
		require.Error(t, w.spool.stopped)
		require.Contains(t, w.spool.stopped.Error(), fmt.Sprintf("the spool limit of %d bytes is reached", limit))
		require.LessOrEqual(t, usage(), int64(limit))
		require.Greater(t, w.spool.diskBytes, int64(limit/100), "something was left")
		writers = append(writers, w)
	}
	before := usage()
	for _, m := range slices.Collect(maps.Values(writers[0].spool.mapped)) {
		writers[0].spool.remove(m)
	}
	require.Less(t, usage(), before)
	auditor := budget.Auditor{Budget: writers[1].spool.budget}
	used, err := auditor.Audit(func() (int64, error) { return usage(), nil })
	require.NoError(t, err)
	require.False(t, writers[1].spool.budget.Take(limit-used, 0, 0), "one process does not get all of the rest")
	require.True(t, writers[1].spool.budget.Take((limit-used)/2, 0, 0))
}

// In a pod others may write to a process's directory. Links that they put in the place of its files
// are not followed, since the process may be able to write where they are not.
func TestLinksInTheDirectoryAreNotFollowed(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "authorized_keys")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	for _, name := range []string{"times-0", "tables-0", "tables-1", stateFiles[0], stateFiles[1], stateFiles[0] + ".new", stateFiles[1] + ".new"} {
		t.Run(name, func(t *testing.T) {
			s := recordtest.NewShim(t)
			s.Process.BufferBytes = record.BufferHeaderBytes + 4096
			s.RandomProgram(rand.New(rand.NewPCG(1, 2)), 4_000)
			w, dir := startSpool(t, s)
			plant := filepath.Join(dir, name)
			w.spool.hook = func(step string) {
				if step == "checkpoint begins" {
					_ = os.Remove(plant)
					_ = os.Symlink(victim, plant)
				}
			}
			w.play(s, nil)
			w.spool.consume(false)
			for range 4 {
				_ = w.spool.checkpoint()
			}
			content, err := os.ReadFile(victim)
			require.NoError(t, err)
			require.Equal(t, "mine", string(content))
			info, err := os.Stat(victim)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		})
	}
}
