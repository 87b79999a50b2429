package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Sizes of the spool.
const (
	defaultBufferBytes = 128 << 10
	minBufferBytes     = record.BufferHeaderBytes + 4096
	maxBufferBytes     = 1 << 30
	checkpointBytes    = 4 << 20   // least number of raw bytes between checkpoints
	maxStateKept       = 1 << 20   // capacity of the checkpoint buffer that is kept between checkpoints
	maxStateBytes      = 128 << 20 // size of a checkpoint above which tracing stops: the program is too irregular
	maxMappedBytes     = 8 << 20   // buffers that wait for a checkpoint; above this they are unmapped
)

// notFollowed are the flags for opening files in a directory that others may write to: open neither
// follows a link nor blocks on a FIFO that they put in a file's place.
const notFollowed = unix.O_NOFOLLOW | unix.O_NONBLOCK

// A Spool is the tracer's part of a living process: it provides record buffers, consumes full ones,
// and writes checkpoints. It is not safe for concurrent use.
//
// The files of full buffers are reused once a checkpoint includes their records. Until then a
// recovery starts from them. Nothing is mapped that is not allocated on the disk: a store to a
// sparse mapping on a full disk is a SIGBUS in the application.
//
// The life cycle of a buffer:
//
//  1. Fresh creates it. (The shim creates the first ones; see Adopt.)
//  2. A thread of the application takes it, writes its header (Given), and fills it (Full).
//  3. The recorder consumes it, and a checkpoint includes it.
//  4. Fresh returns it again.
type Spool struct {
	dir      string
	process  *record.Process
	recorder *recorder.Recorder
	sources  map[uint32]*spoolSource
	order    []*recorder.Source // the sources as a list, for the recorder
	free     []*mapping
	mapped   map[uintptr]*mapping
	files    int // number of buffer files created by this Spool

	state       []byte // buffer for checkpoints
	checkpoints uint64 // number of checkpoints
	times       blockLog
	values      blockLog
	chapters    blockLog
	tables      tableLog

	raw       int64 // bytes of full buffers since the last checkpoint
	stateSize int64
	maxState  int64          // size of a checkpoint above which tracing stops
	failure   error          // of the last checkpoint
	diskBytes int64          // all buffers and block logs
	stateDisk [2]int64       // sizes of the state files
	budget    *budget.Budget // shared by all processes of the spool; nil: this process has its own limit
	stopped   error
	written   int64    // bytes of blocks, tables and states
	usage     []uint64 // usage.go; nil: not mapped yet
	measured  uint64   // value of checkpoints when memory was last measured

	hook func(step string) // for tests: called at every named step
}

// reach marks a named step, at which tests can make the process die (steps_test.go).
func (s *Spool) reach(step string) {
	if s.hook != nil {
		s.hook(step)
	}
}

// A spoolSource is a thread with its buffers.
type spoolSource struct {
	*recorder.Source
	done []*mapping // consumed, but not in a checkpoint yet
	open []*mapping // the mappings of source.buffers, in order
}

// A mapping is a buffer file in memory.
type mapping struct {
	path string
	size int64
	data []byte // nil: unmapped
}

// ErrStopped reports that tracing has stopped: the disk is full, the limit is reached, or the
// recorder failed.
var ErrStopped = errors.New("tracing has stopped")

// Open opens a process directory, which the shim has created and locked.
func Open(dir string) (*Spool, error) {
	p, err := ReadProcess(dir)
	if err != nil {
		return nil, err
	}
	r := recorder.New(p)
	r.Dictionary().Follow(filepath.Join(dir, record.DictionaryFile))
	var shared *budget.Budget // without one the process has its own limit
	if p.SharedSpool != 0 {
		shared, _ = budget.Open(filepath.Dir(dir))
	}
	return &Spool{
		dir: dir, process: p, recorder: r, budget: shared,
		times:    blockLog{prefix: timesFile, fileBytes: blockLogBytes},
		values:   blockLog{prefix: valuesFile, fileBytes: blockLogBytes},
		chapters: blockLog{prefix: chaptersFile, fileBytes: 1},
		tables:   tableLog{minBytes: minTables},
		sources:  map[uint32]*spoolSource{}, mapped: map[uintptr]*mapping{}, maxState: maxStateBytes,
	}, nil
}

// Adopt takes over buffer n of those that the shim created before it loaded the core. It has room
// for capacity bytes of records.
func (s *Spool) Adopt(n uint32, buffer unsafe.Pointer, capacity uint64) {
	if s.stopped != nil {
		return
	}
	s.reach("buffer adopted")
	size := int64(capacity) + record.BufferHeaderBytes
	s.mapped[uintptr(buffer)] = &mapping{
		path: filepath.Join(s.dir, fmt.Sprintf(shimBuffer, n)), size: size, data: unsafe.Slice((*byte)(buffer), size),
	}
	s.diskBytes += size
}

// Given reports that a thread has taken a buffer of Fresh and has written its header.
func (s *Spool) Given(thread uint32, buffer unsafe.Pointer) {
	m := s.mapped[uintptr(buffer)]
	if s.stopped != nil || m == nil {
		return
	}
	s.reach("buffer given")
	src := s.source(thread)
	src.Buffers = append(src.Buffers, record.LiveBuffer(m.data))
	src.open = append(src.open, m)
	src.Closed = false
}

// Full reports that a thread has finished writing to its last buffer. The spool consumes
// this buffer and the current content of the other threads' buffers, and writes a
// checkpoint if one is due.
func (s *Spool) Full(thread uint32, buffer unsafe.Pointer) {
	src := s.source(thread)
	if n := len(src.open); s.stopped != nil || n == 0 || s.mapped[uintptr(buffer)] != src.open[n-1] {
		return
	}
	s.reach("buffer full")
	src.Closed = true
	s.consume(true)
}

// Ballot returns the rank's ballot at a marker that one of its threads has reached. It includes
// all records so far.
func (s *Spool) Ballot() (b online.Ballot, ok bool) {
	if s.stopped != nil {
		return b, false
	}
	s.consume(false)
	return s.recorder.Ballot(), true
}

func (s *Spool) source(thread uint32) *spoolSource {
	src := s.sources[thread]
	if src == nil {
		src = &spoolSource{Source: s.recorder.NewSource(thread)}
		s.sources[thread] = src
		s.order = append(s.order, src.Source)
	}
	return src
}

// consume consumes the available records, may leave those at the end (wait), and writes a
// checkpoint if one is due. Buffers are kept while checkpoints fail.
func (s *Spool) consume(wait bool) {
	s.recorder.ConsumeOrWait(s.order, wait)
	s.reach("buffers consumed")
	for _, src := range s.sources {
		for len(src.open) > len(src.Buffers) {
			m := src.open[0]
			src.open = src.open[1:]
			src.done = append(src.done, m)
			s.raw += m.size
			if s.raw > maxMappedBytes {
				s.unmap(m)
			}
		}
	}
	if s.raw > max(checkpointBytes, s.stateSize) {
		s.failure = s.checkpoint()
	}
}

// unmap unmaps a consumed buffer and keeps its file.
func (s *Spool) unmap(m *mapping) {
	delete(s.mapped, uintptr(unsafe.Pointer(unsafe.SliceData(m.data))))
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(m.data)), uintptr(m.size))
	m.data = nil
}

// remove removes a buffer and its file.
func (s *Spool) remove(m *mapping) {
	if m.data != nil {
		s.unmap(m)
	}
	_ = os.Remove(m.path)
	s.give(m.size)
}

// checkpoint writes the state. The buffers of its records are free after that.
func (s *Spool) checkpoint() error {
	s.reach("checkpoint begins")
	before := s.diskBytes
	s.recorder.CloseBlocks()
	if err := s.writeBlocks(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	s.reach("blocks written")
	s.tables.add(s.recorder)
	tables, _ := s.tables.next()
	s.state = s.recorder.AppendCheckpoint(append(s.state[:0], make([]byte, stateFrame)...), tables, nil)
	s.state = frameState(s.state, s.checkpoints)
	size, added := int64(len(s.state)), int64(len(s.tables.pending))
	growth := max(size-s.stateDisk[s.checkpoints%2], 0)
	if !s.takeState(size, growth, added, s.diskBytes-before) {
		return s.limitReached()
	}
	s.reach("state encoded")
	if err := s.tables.write(s.dir); err != nil {
		s.budget.Add(-growth - added)
		return fmt.Errorf("checkpoint: %w", err)
	}
	s.diskBytes += added
	s.written += added
	s.reach("tables written")
	if err := writeState(s.dir, s.checkpoints, s.state); err != nil {
		s.budget.Add(-growth)
		return fmt.Errorf("checkpoint: %w", err)
	}
	s.stateDisk[s.checkpoints%2] += growth
	s.written += size
	s.reach("state written")
	s.checkpoints++
	if cap(s.state) > maxStateKept {
		s.state = nil
	}
	s.stateSize, s.raw = size, 0
	if freed := s.tables.removeObsolete(s.dir); freed > 0 {
		s.give(freed)
		s.reach("old tables removed")
	}
	s.forgetRemoved()
	for _, src := range s.sources {
		for _, m := range src.done {
			if m.data == nil {
				s.remove(m)
			} else {
				s.free = append(s.free, m)
			}
		}
		src.done = src.done[:0]
	}
	s.reach("buffers free")
	if whole := size + s.tables.base; whole > s.maxState {
		s.Stop(fmt.Errorf("the recorder's state has reached %d MiB: the calls of this process hardly repeat", whole>>20))
	}
	return nil
}

// Spare returns the number of free buffers, which Fresh returns before it creates one.
func (s *Spool) Spare() int { return len(s.free) }

// Fresh returns a buffer with room for at least minimum bytes of records; capacity is its actual
// room. The caller must write its header.
func (s *Spool) Fresh(minimum uint64) (buffer unsafe.Pointer, capacity uint64, err error) {
	if s.stopped != nil {
		return nil, 0, s.stopped
	}
	m, err := s.fresh(minimum)
	if err != nil {
		if s.failure != nil {
			err = s.failure // buffers are not freed because checkpoints fail
		}
		return nil, 0, err
	}
	return unsafe.Pointer(unsafe.SliceData(m.data)), uint64(m.size-record.BufferHeaderBytes) / 8 * 8, nil
}

func (s *Spool) fresh(minimum uint64) (*mapping, error) {
	size := s.process.BufferBytes
	if size <= 0 {
		size = defaultBufferBytes
	}
	size = max(size, minBufferBytes)
	if minimum > maxBufferBytes-record.BufferHeaderBytes {
		return nil, fmt.Errorf("a record of %d bytes is too large", minimum)
	}
	size = max(size, int64(minimum)+record.BufferHeaderBytes)
	page := int64(os.Getpagesize())
	size = (size + page - 1) / page * page

	s.reach("buffer wanted")
	m := s.reuse(size)
	taken := m == nil && s.take(size)
	// Write a checkpoint early, unless it costs more than the buffers that it frees.
	if m == nil && !taken && s.raw > s.stateSize/4 {
		s.failure = s.checkpoint()
		m = s.reuse(size)
		taken = m == nil && s.take(size)
	}
	switch {
	case m != nil:
		s.reach("buffer used again")
		return m, nil
	case !taken:
		return nil, s.limitReached()
	}
	path := filepath.Join(s.dir, fmt.Sprintf("%d.seg", s.files))
	data, err := mapNew(path, size)
	if err != nil {
		os.Remove(path)
		s.give(size)
		return nil, err
	}
	s.reach("buffer made")
	s.files++
	m = &mapping{path: path, size: size, data: data}
	s.mapped[uintptr(unsafe.Pointer(unsafe.SliceData(data)))] = m
	return m, nil
}

// reuse returns the most recently used free buffer that is large enough. It removes oversized ones,
// which were made for one enormous record.
func (s *Spool) reuse(size int64) *mapping {
	for i := len(s.free) - 1; i >= 0; i-- {
		if m := s.free[i]; m.size >= size && m.size <= 4*size {
			s.free = slices.Delete(s.free, i, i+1)
			return m
		}
	}
	for _, m := range s.free {
		s.remove(m)
	}
	s.free = s.free[:0]
	return nil
}

// reserve returns the bytes that a checkpoint needs: the old state and the new one, and
// all tables anew.
func (s *Spool) reserve() int64 { return 2*s.stateSize + s.tables.at.Bytes }

// take reserves size bytes for buffers and reports whether the limit allows them.
func (s *Spool) take(size int64) bool {
	limit := s.process.SpoolLimitBytes
	switch {
	case s.budget != nil:
		if !s.budget.Take(size, s.diskBytes+s.stateDisk[0]+s.stateDisk[1], s.reserveForNew()+s.reserve()) {
			return false
		}
	case limit > 0 && s.diskBytes+size+s.reserve() > limit:
		return false
	}
	s.diskBytes += size
	return true
}

// give releases bytes that take reserved.
func (s *Spool) give(size int64) {
	s.diskBytes -= size
	s.budget.Add(-size)
}

// reserveForNew returns the bytes that are reserved for new processes: a few buffers each, so that
// the trace at least shows them.
func (s *Spool) reserveForNew() int64 { return s.budget.Limit() / 16 }

// takeState reports whether there is room for a state that makes its file longer by growth bytes
// and its tables by added bytes, after the logs have grown by spilled bytes.
func (s *Spool) takeState(size, growth, added, spilled int64) bool {
	if s.budget != nil {
		reserve := int64(0)
		if growth+added+spilled > 0 {
			// room for the next checkpoint, without which there is no use in continuing
			reserve = s.reserveForNew() + s.reserve()
		}
		return s.budget.Take(growth+added, s.tables.at.Bytes+s.stateDisk[0]+s.stateDisk[1], reserve)
	}
	limit := s.process.SpoolLimitBytes
	return limit <= 0 || s.diskBytes+s.stateSize+size+added <= limit
}

func (s *Spool) limitReached() error {
	limit := s.process.SpoolLimitBytes
	if s.budget != nil {
		limit = s.budget.Limit()
	}
	return limitError(limit)
}

// A limitError reports that the spool has reached its limit in bytes. The shim gets it as EDQUOT.
type limitError int64

func (l limitError) Error() string {
	return fmt.Sprintf("the spool limit of %d bytes is reached", int64(l))
}

func (limitError) Unwrap() error { return unix.EDQUOT }

// Stop ends tracing. It writes the reason to the headers of the existing buffers, which
// needs no disk space.
func (s *Spool) Stop(err error) {
	if s.stopped != nil {
		return
	}
	s.stopped = fmt.Errorf("%w: %w", ErrStopped, err)
	for _, m := range s.mapped {
		record.WriteStopped(m.data, err.Error())
	}
}

// mapNew creates, allocates and maps the file of a buffer.
func mapNew(path string, size int64) ([]byte, error) {
	if err := fitsLimit(size); err != nil {
		return nil, err
	}
	// not with os.File, which checks for each file whether it can be polled
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	if err := unix.Fchmod(fd, 0o644); err != nil {
		return nil, &os.PathError{Op: "chmod", Path: path, Err: err}
	}
	if err := allocate(fd, size); err != nil {
		return nil, fmt.Errorf("allocate %s: %w", filepath.Base(path), err)
	}
	p, err := unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// The first store to a page makes the file system look up its block: do it here, not in a call
	// of the application.
	data := unsafe.Slice((*byte)(p), size)
	for at := 0; at < len(data); at += os.Getpagesize() {
		data[at] = 0
	}
	return data, nil
}

// allocate reserves the blocks of a file. On file systems that cannot do so (NFS, old overlays)
// it writes zeros.
func allocate(fd int, size int64) error {
	for {
		err := unix.Fallocate(fd, 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			zeros := make([]byte, 64<<10)
			for at := int64(0); at < size; {
				n, err := unix.Pwrite(fd, zeros[:min(int64(len(zeros)), size-at)], at)
				if err != nil && !errors.Is(err, unix.EINTR) {
					return err
				}
				at += int64(max(n, 0))
			}
			return nil
		}
		return err
	}
}

// writeFile replaces a file atomically.
func writeFile(dir, name string, content []byte) error {
	if err := fitsLimit(int64(len(content))); err != nil {
		return err
	}
	temporary := filepath.Join(dir, name+".new")
	err := writeNew(temporary, content)
	if err == nil {
		err = os.Rename(temporary, filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}

// writeNew writes a file that must not exist yet, since others may have put something there.
func writeNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644) // whatever the umask: another user may read it
	}
	return errors.Join(err, f.Close())
}
