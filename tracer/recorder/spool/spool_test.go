package spool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A spoolWriter writes the records of a fake shim into the buffers of a process's directory, as the
// shim does (tracer/shim/record/buffers.c), and has a Writer compress each that is full.
type spoolWriter struct {
	t         testing.TB
	spool     *Writer
	dir       string
	process   *record.Process
	threads   map[uint32]*spoolThread
	ring      []uint64
	members   []*member // the slots of the ring so far
	copies    int       // number of copies of them so far
	once      int       // number of other buffers so far
	onceBytes atomic.Int64
	apart     bool   // somebody else calls step
	taken     uint64 // number of uses of buffers so far
	bytes     int64  // of all buffers made so far
	most      int    // of them; 0: as many as the shim
	pause     func() // called while the header of a buffer is written
	refused   error  // why there was no further buffer
	killed    func() // called when the compressor is killed, by a panic with errKilled
}

var errKilled = errors.New("killed by a test")

// step has the Writer compress what is there.
func (w *spoolWriter) step() {
	defer func() {
		if p := recover(); p != nil {
			if p != any(errKilled) {
				panic(p)
			}
			w.killed()
		}
	}()
	if _, err := w.spool.Step(RingState{Once: w.onceBytes.Load()}); err != nil && !w.spool.answer.isStopped() && !errors.Is(err, w.spool.failure) {
		w.t.Fatal(err)
	}
}

// A member is a buffer that is used again.
type member struct {
	words []uint64
	open  bool
}

type spoolThread struct {
	words  []uint64 // the mapped buffer
	member *member  // nil: it is not used again
	at     int
	short  recordtest.Shortener
}

// write appends one record, asking for buffers as needed; false when tracing has stopped.
func (w *spoolWriter) write(thread uint32, rec []uint64) bool {
	t := w.threads[thread]
	if t == nil {
		t = &spoolThread{}
		w.threads[thread] = t
	}
	if t.at+len(rec) > len(t.words) {
		if w.refused = w.next(thread, t, int64(len(rec)*8)); w.refused != nil {
			return false
		}
		t.at = record.BufferHeaderWords
		t.short.Begin()
		t.words[record.HeaderSample], t.words[record.HeaderSample+1], t.words[record.HeaderSample+2] = 1, 1, 1
		t.words[record.HeaderEpoch] = rec[record.EpochWord] - 1
	}
	t.at += copy(t.words[t.at:], t.short.Next(t.words[:t.at], rec))
	t.words[record.HeaderUsed] = uint64(t.at-record.BufferHeaderWords) * 8
	return true
}

// next closes a thread's full buffer and takes a fresh one.
func (w *spoolWriter) next(thread uint32, t *spoolThread, minimum int64) error {
	sequence := uint64(0)
	if t.words != nil {
		sequence = t.words[record.HeaderSequence] + 1
		t.words[record.HeaderClosed] = 1
		if t.member != nil {
			t.member.open = false
		}
		if !w.apart {
			w.step()
		}
	}
	full := t.words
	if err := w.take(t, minimum); err != nil {
		if full != nil {
			copy(record.BytesOf(full)[rawlayout.BufferStoppedAt:][:rawlayout.BufferStoppedBytes-1], err.Error())
		}
		return err
	}
	w.taken++
	w.begin(t.words, thread, sequence)
	return nil
}

// begin writes the header of a buffer in the order in which the shim does (tracer/ring/buffer.h).
func (w *spoolWriter) begin(words []uint64, thread uint32, sequence uint64) {
	header := recordtest.NewBuffer(thread, sequence)
	header[record.HeaderTaken] = w.taken
	order := []int{record.HeaderUsed, record.HeaderFormat, record.HeaderSequence, record.HeaderClosed, record.HeaderTaken, record.HeaderEpoch}
	words[0] = 0
	for _, at := range order {
		if w.pause != nil {
			w.pause()
		}
		words[at] = header[at]
	}
	copy(words[1:], header[1:])
	if w.pause != nil {
		w.pause()
	}
	words[0] = header[0]
}

// take gives a thread a buffer.
func (w *spoolWriter) take(t *spoolThread, minimum int64) error {
	said := w.answered()
	if said.isStopped() {
		why, _, _ := strings.Cut(string(said[rawlayout.CompressorStoppedAt:]), "\x00")
		return errors.New(why)
	}
	size := max(w.process.BufferBytes, record.BufferHeaderBytes+minimum)
	if w.process.BufferBytes == 0 {
		size = max(128<<10, size)
	}
	slot := w.slotSize()
	if size > maxBufferBytes {
		return fmt.Errorf("a record of %d bytes is too large", minimum)
	}
	for i, m := range w.members {
		if !m.open && said.word(rawlayout.CompressorBytes+8*i) == m.words[record.HeaderTaken] && int64(len(m.words)*8) >= size {
			m.open = true
			t.words, t.member = m.words, m
			return nil
		}
	}
	most := w.most
	if most == 0 {
		most = rawlayout.RingBuffers
	}
	isNew := len(w.members) < most && size <= slot
	if m := w.copiable(t.member, size); m != nil && !isNew {
		return w.copyMember(t, m)
	}
	if isNew {
		size = slot
	}
	if err := w.charge(said, size); err != nil {
		return err
	}
	if !isNew {
		t.words, t.member = w.mapNew(fmt.Sprint(oncePrefix, w.once, bufferSuffix), size), nil
		w.once++
		w.onceBytes.Add(size)
		return nil
	}
	if w.ring == nil {
		w.ring = w.mapNew(ringFiles[0], rawlayout.RingBuffers*slot)
	}
	m := &member{words: w.ring[len(w.members)*int(slot)/8:][:slot/8], open: true}
	w.members = append(w.members, m)
	t.words, t.member = m.words, m
	return nil
}

// slotSize returns the size of the buffers that are used again.
func (w *spoolWriter) slotSize() int64 {
	size := int64(128 << 10)
	if w.process.BufferBytes > 0 {
		size = max(w.process.BufferBytes, 2*record.BufferHeaderBytes)
	}
	return (size + record.BufferHeaderBytes - 1) / record.BufferHeaderBytes * record.BufferHeaderBytes
}

// charge takes room for a file.
func (w *spoolWriter) charge(said answer, size int64) error {
	removed, compressed := int64(said.word(rawlayout.CompressorRemovedAt)), int64(said.word(rawlayout.CompressorBytesAt))
	if w.spool.budget != nil && !w.spool.budget.Take(size, w.bytes-removed, w.spool.budget.Limit()/16) ||
		w.spool.budget == nil && w.process.SpoolLimitBytes > 0 && w.bytes-removed+compressed+size > w.process.SpoolLimitBytes {
		return w.spool.limitReached()
	}
	w.bytes += size
	return nil
}

// copiable returns a member that no thread uses, best the thread's own.
func (w *spoolWriter) copiable(own *member, size int64) *member {
	for _, m := range append([]*member{own}, w.members...) {
		if m != nil && !m.open && int64(len(m.words)*8) >= size {
			return m
		}
	}
	return nil
}

// copyMember copies a member to a file, and has a thread use it again.
func (w *spoolWriter) copyMember(t *spoolThread, m *member) error {
	size := record.BufferHeaderBytes + int64(m.words[record.HeaderUsed])
	if err := w.charge(w.answered(), size); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(w.dir, fmt.Sprint(copiesPrefix, w.copies/rawlayout.Copies, bufferSuffix)), os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(w.t, err)
	defer f.Close()
	b, at := record.BytesOf(m.words)[:size], int64(w.copies%rawlayout.Copies)*w.slotSize()
	require.NoError(w.t, f.Truncate(rawlayout.Copies*w.slotSize()))
	_, err = f.WriteAt(b[record.BufferHeaderBytes:], at+record.BufferHeaderBytes)
	require.NoError(w.t, err)
	_, err = f.WriteAt(b[:record.BufferHeaderBytes], at)
	require.NoError(w.t, err)
	w.copies++
	w.onceBytes.Add(size)
	m.open = true
	t.words, t.member = m.words, m
	return nil
}

// answered reads what the compressor says.
func (w *spoolWriter) answered() (said answer) {
	d, err := OpenPath(w.dir)
	require.NoError(w.t, err)
	defer d.Close()
	require.NoError(w.t, said.resume(d))
	return said
}

// mapNew makes the file of a buffer. It stays mapped until the test ends.
func (w *spoolWriter) mapNew(name string, size int64) []uint64 {
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	require.NoError(w.t, err)
	defer f.Close()
	require.NoError(w.t, f.Truncate(size))
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = unix.Munmap(data) })
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/8)
}

// onDisk returns what a file takes of a disk, without its holes. Small files are counted as they
// are in the budget, without the rest of their last page.
func onDisk(info os.FileInfo) int64 {
	return min(info.Size(), 512*info.Sys().(*syscall.Stat_t).Blocks)
}

// again has another Writer go on, as if the one so far had been killed.
func (w *spoolWriter) again() {
	before := w.spool
	d, err := OpenPath(w.dir)
	require.NoError(w.t, err)
	w.spool, err = d.Compress(before.budget)
	require.NoError(w.t, err)
	w.spool.hook = before.hook
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

// openSpool turns a directory into that of a process, as the shim does, and begins to compress it.
func openSpool(t testing.TB, s *recordtest.Shim, dir string) (*spoolWriter, string) {
	t.Helper()
	for name, content := range map[string][]byte{processFile: s.JSON(), observed.FileName: make([]byte, rawlayout.ObservedContext)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	account, err := budget.Open(filepath.Dir(dir))
	require.NoError(t, err)
	d, err := OpenPath(dir)
	require.NoError(t, err)
	writer, err := d.Compress(account)
	require.NoError(t, err)
	return &spoolWriter{t: t, spool: writer, dir: dir, process: s.Process, threads: map[uint32]*spoolThread{}}, dir
}

// stateOf returns the complete state of a recorder, and restored makes a recorder from that.
func stateOf(r *recorder.Recorder) []byte {
	return r.AppendCheckpoint(nil, recorder.TablesAt{}, r.AppendTables(nil, true))
}

func restored(p *record.Process, state []byte) (*recorder.Recorder, error) {
	return recorder.RestoreFrom(p, state, func(recorder.TablesAt, func([]byte) error) error { return recorder.ErrCheckpoint })
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
		src.Buffers = append(src.Buffers, &record.Buffer{Thread: n, Sequence: s.Threads[n].Sequence, Words: s.Threads[n].Words})
		sources = append(sources, src)
	}
	r.Consume(sources)
}

// ignoreHow ignores what a recovery adds or numbers in another way: terminals are numbered in order
// of first sight, which depends on how threads interleave.
var ignoreHow = []cmp.Option{
	cmpopts.IgnoreFields(timing.Clock{}, "Samples"),
	cmpopts.IgnoreFields(trace.Rank{}, "EndedEarly", "Tracer"),
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
		c, report, err := snapshot(dir)
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
			bytes += onDisk(info)
		}
	}
	if bytes > s.Process.SpoolLimitBytes {
		t.Errorf("%d bytes in the spool, limit %d", bytes, s.Process.SpoolLimitBytes)
	}
	if len(c.Meta.Notes) != 1 || !strings.Contains(c.Meta.Notes[0], "spool limit of 40000 bytes") {
		t.Error(c.Meta.Notes)
	}
	if !errors.Is(w.refused, unix.EDQUOT) {
		t.Error(w.refused)
	}
}

func TestAlive(t *testing.T) {
	dir := t.TempDir()
	if alive, err := isAlive(dir); alive || err != nil {
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
	if alive, err := isAlive(dir); !alive || err != nil {
		t.Error("a living process counts as dead", err)
	}
	in.Close()
	_ = command.Wait()
	if alive, err := isAlive(dir); alive || err != nil {
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
	if err := w.next(0, w.threads[0], maxBufferBytes); err == nil {
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
		d, err := OpenPath(dir)
		require.NoError(t, err)
		if _, err := d.Compress(nil); err == nil {
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
				bytes += onDisk(info)
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
		w.play(s, nil)
		require.ErrorContains(t, w.refused, fmt.Sprintf("the spool limit of %d bytes is reached", limit))
		require.LessOrEqual(t, usage(), int64(limit))
		require.Greater(t, w.bytes, int64(limit/100), "something was left")
		writers = append(writers, w)
	}
	before := usage()
	files, err := filepath.Glob(filepath.Join(writers[0].dir, "*"+bufferSuffix))
	require.NoError(t, err)
	for _, file := range files {
		require.NoError(t, os.Remove(file))
	}
	require.Less(t, usage(), before)
	auditor := budget.Auditor{Budget: writers[1].spool.budget}
	used := int64(0)
	for range 2 { // a surplus counts when it is seen twice
		used, err = auditor.Audit(func() (int64, error) { return usage(), nil })
		require.NoError(t, err)
	}
	require.False(t, writers[1].spool.budget.Take(limit-used, 0, 0), "one process does not get all of the rest")
	require.True(t, writers[1].spool.budget.Take((limit-used)/2, 0, 0))
}

// In a pod others may write to a process's directory. Links that they put in the place of its files
// are not followed, since the process may be able to write where they are not.
func TestLinksInTheDirectoryAreNotFollowed(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "authorized_keys")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	for _, name := range []string{"times-0", "tables-0", "tables-1", stateFiles[0], stateFiles[1], "state.new"} {
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
			_, _ = w.spool.step(false, 0)
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
