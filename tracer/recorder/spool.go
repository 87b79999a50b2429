package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of the spool.
const (
	defaultSegmentBytes = 1 << 20
	minSegmentBytes     = segmentHeaderSize + 4096
	maxSegmentBytes     = 1 << 30
	checkpointBytes     = 4 << 20 // raw bytes between checkpoints, at least
)

// A Spool is the tracer's part of a living process: it hands out segments, works them off when they are full, and
// checkpoints. All methods may be called from any thread.
//
// The files of full segments are reused once a checkpoint has what was in them; until then they are what a recovery
// starts from. Nothing is ever mapped that is not allocated on the disk: a store to a sparse map on a full disk is a
// SIGBUS in the application.
type Spool struct {
	mu       sync.Mutex
	dir      string
	process  *Process
	recorder *Recorder
	sources  map[uint32]*spoolSource
	order    []*source // of sources, as the recorder wants them
	free     []*mapping
	mapped   map[uintptr]*mapping

	raw       int64 // bytes of full segments since the last checkpoint
	stateSize int64
	failure   error // of the last checkpoint
	diskBytes int64 // of all segments
	stopped   error
}

// A spoolSource is a thread with its segments.
type spoolSource struct {
	source
	next uint64     // sequence of the next segment
	done []*mapping // worked off, waiting for a checkpoint
	open []*mapping // the mappings of source.segments, in order
}

// A mapping is a segment file in memory.
type mapping struct {
	path string
	data []byte
	*segment
}

// ErrStopped says that tracing has stopped: the disk is full, the limit is reached, or the recorder failed.
var ErrStopped = errors.New("tracing has stopped")

// Start makes the process directory in a spool and takes its lock. text is process.json, word for word.
func Start(spool string, text []byte) (*Spool, error) {
	p, err := ParseProcess(text)
	if err != nil {
		return nil, fmt.Errorf("process.json: %w", err)
	}
	name := p.Directory
	if name == "" || name != filepath.Base(name) || name == "." || name == ".." {
		return nil, fmt.Errorf("process.json: directory %q", name)
	}
	dir := filepath.Join(spool, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	// whatever the umask: another user may have to read this
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	// The lock comes first: who sees process.json may trust it.
	if err := takeLock(dir); err != nil {
		return nil, err
	}
	if err := os.Chmod(filepath.Join(dir, lockFile), 0o644); err != nil {
		return nil, err
	}
	if err := writeFile(dir, processFile, text); err != nil {
		return nil, err
	}
	return &Spool{
		dir: dir, process: p, recorder: New(p),
		sources: map[uint32]*spoolSource{}, mapped: map[uintptr]*mapping{},
	}, nil
}

// Next takes the full segment of a thread (nil: it has none) and gives it a fresh one that has room for at least
// minimum bytes of records; capacity says for how many. After an error tracing has stopped for good.
func (s *Spool) Next(thread uint32, full unsafe.Pointer, minimum uint64) (segment unsafe.Pointer, capacity uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil {
		return nil, 0, s.stopped
	}
	src := s.source(thread)
	if full != nil {
		if m := s.mapped[uintptr(full)]; m == nil || m.thread != thread {
			return nil, 0, s.stop(fmt.Errorf("thread %d handed over a segment that is not its own", thread))
		}
		src.closed = true
		s.workOff()
	}
	m, err := s.fresh(thread, src.next, minimum)
	if err != nil {
		if s.failure != nil {
			err = s.failure // for want of a checkpoint there is no room
		}
		return nil, 0, s.stop(err)
	}
	src.next++
	src.segments = append(src.segments, m.segment)
	src.open = append(src.open, m)
	src.closed = false
	return unsafe.Pointer(unsafe.SliceData(m.words)), uint64(len(m.words)-headerWords) * 8, nil
}

func (s *Spool) source(thread uint32) *spoolSource {
	src := s.sources[thread]
	if src == nil {
		src = &spoolSource{source: source{thread: s.recorder.thread(thread)}}
		s.sources[thread] = src
		s.order = append(s.order, &src.source)
	}
	return src
}

// workOff compresses what is there, and checkpoints when that is due. While checkpoints fail, segments are kept.
func (s *Spool) workOff() {
	s.recorder.consume(s.order)
	for _, src := range s.sources {
		for len(src.open) > len(src.segments) {
			m := src.open[0]
			src.open = src.open[1:]
			src.done = append(src.done, m)
			s.raw += int64(len(m.data))
		}
	}
	if s.raw > max(checkpointBytes, s.stateSize) {
		s.failure = s.checkpoint()
	}
}

// checkpoint writes the state; what it holds needs its segments no more.
func (s *Spool) checkpoint() error {
	state := s.recorder.AppendState(make([]byte, 0, s.stateSize+s.stateSize/2+64<<10))
	if limit := s.process.SpoolLimitBytes; limit > 0 && s.diskBytes+s.stateSize+int64(len(state)) > limit {
		return s.limitReached()
	}
	if err := writeFile(s.dir, stateFile, state); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	s.stateSize, s.raw = int64(len(state)), 0
	for _, src := range s.sources {
		s.free = append(s.free, src.done...)
		src.done = nil
	}
	return nil
}

// fresh gives a segment with its header written.
func (s *Spool) fresh(thread uint32, sequence, minimum uint64) (*mapping, error) {
	size := s.process.SegmentBytes
	if size <= 0 {
		size = defaultSegmentBytes
	}
	size = max(size, minSegmentBytes)
	if minimum > maxSegmentBytes-segmentHeaderSize {
		return nil, fmt.Errorf("a record of %d bytes", minimum)
	}
	size = max(size, int64(minimum)+segmentHeaderSize)
	page := int64(os.Getpagesize())
	size = (size + page - 1) / page * page

	path := filepath.Join(s.dir, segmentName(thread, sequence))
	m := s.reuse(size)
	// A checkpoint ahead of time, but not one that costs more than what it frees is worth.
	if m == nil && s.overLimit(size) && s.raw > s.stateSize/4 {
		s.failure = s.checkpoint()
		m = s.reuse(size)
	}
	switch {
	case m != nil:
		// The header goes first: a recovery that meets the file under its old name sees that it is another one.
		m.segment = writeHeader(m.data, thread, sequence)
		if err := os.Rename(m.path, path); err != nil {
			return nil, err
		}
		m.path = path
		return m, nil
	case s.overLimit(size):
		return nil, s.limitReached()
	}
	data, err := mapNew(path, size)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	s.diskBytes += size
	m = &mapping{path: path, data: data, segment: writeHeader(data, thread, sequence)}
	s.mapped[uintptr(unsafe.Pointer(unsafe.SliceData(data)))] = m
	return m, nil
}

// reuse takes a free segment that is large enough. Oversized ones, for one enormous record, are given up.
func (s *Spool) reuse(size int64) *mapping {
	for i, m := range s.free {
		if n := int64(len(m.data)); n >= size && n <= 4*size {
			s.free = append(s.free[:i], s.free[i+1:]...)
			return m
		}
	}
	for _, m := range s.free {
		delete(s.mapped, uintptr(unsafe.Pointer(unsafe.SliceData(m.data))))
		_ = unix.Munmap(m.data)
		_ = os.Remove(m.path)
		s.diskBytes -= int64(len(m.data))
	}
	s.free = nil
	return nil
}

// overLimit tells whether one more segment would exceed the configured limit. A checkpoint needs room for the old
// state and the new one.
func (s *Spool) overLimit(size int64) bool {
	return s.process.SpoolLimitBytes > 0 && s.diskBytes+size+2*s.stateSize > s.process.SpoolLimitBytes
}

func (s *Spool) limitReached() error {
	return fmt.Errorf("the spool limit of %d bytes is reached", s.process.SpoolLimitBytes)
}

// stop ends tracing. The reason goes where no disk space is needed: into the headers of the segments that are there.
func (s *Spool) stop(err error) error {
	s.stopped = fmt.Errorf("%w: %w", ErrStopped, err)
	for _, m := range s.mapped {
		writeStopped(m.words, err.Error())
	}
	return s.stopped
}

// Stop ends tracing because of a failure outside of the spool.
func (s *Spool) Stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		_ = s.stop(err)
	}
}

// mapNew makes, allocates and maps a segment file.
func mapNew(path string, size int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Chmod(0o644); err != nil {
		return nil, err
	}
	if err := allocate(f, size); err != nil {
		return nil, fmt.Errorf("allocate %s: %w", filepath.Base(path), err)
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
}

// allocate reserves the blocks of a file. Where the file system cannot (NFS, old overlays), zeros are written.
func allocate(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			zeros := make([]byte, 64<<10)
			for at := int64(0); at < size; at += int64(len(zeros)) {
				if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
					return err
				}
			}
			return nil
		}
		return err
	}
}

func segmentName(thread uint32, sequence uint64) string {
	return fmt.Sprintf("%d-%d.seg", thread, sequence)
}

func writeHeader(data []byte, thread uint32, sequence uint64) *segment {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/8)
	clear(words[:headerWords])
	copy(data, segmentMagic)
	words[headerFormat] = join(segmentFormat, thread)
	words[headerSequence] = sequence
	return &segment{thread: thread, sequence: sequence, words: words, live: true}
}

// writeStopped writes why tracing stopped. A segment that is not there any more may be the reason.
func writeStopped(words []uint64, text string) {
	defer func() { _ = recover() }()
	area := bytesOf(words[headerStopped : headerStopped+stoppedBytes/8])
	n := copy(area[:len(area)-1], text)
	area[n] = 0
}

// writeFile replaces a file: whoever reads it sees the old content or the new one.
func writeFile(dir, name string, content []byte) error {
	temporary := filepath.Join(dir, name+".new")
	err := os.WriteFile(temporary, content, 0o644)
	if err == nil {
		err = os.Chmod(temporary, 0o644)
	}
	if err == nil {
		err = os.Rename(temporary, filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}
