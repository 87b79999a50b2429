package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A bufferFile is a record buffer in the directory, as it was when its header was read.
type bufferFile struct {
	bufferPlace
	stride  int64 // bytes from one to the next in the file
	size    int64 // of the buffer; of a copy, of its header and records
	onTmpfs bool
	header  record.BufferHeader
	epoch   uint64 // of the header, but not less than that of the thread's buffer before
	done    bool   // the recorder had consumed it before this reading
}

// A bufferPlace is where a record buffer is: in a slot of a file.
type bufferPlace struct {
	name string
	slot int
}

func (p bufferPlace) inRing() bool { return slices.Contains(ringFiles, p.name) }

func (p bufferPlace) isCopy() bool { return strings.HasPrefix(p.name, copiesPrefix) }

// slotsOfFile returns how many slots the file has.
func (p bufferPlace) slotsOfFile() int64 {
	switch {
	case p.inRing():
		return rawlayout.RingBuffers
	case p.isCopy():
		return rawlayout.Copies
	}
	return 1
}

// consumedBy reports whether a recorder has consumed all of the buffer's records.
func (f *bufferFile) consumedBy(r *recorder.Recorder) bool {
	return f.header.Sequence < r.NextBuffer(f.header.Thread)
}

// errMoved reports that a buffer of a living process was used again before it was read.
var errMoved = errors.New("a record buffer was used again before it was read")

// A reading is a way to read the record buffers of a process.
type reading struct {
	living bool  // the process may go on meanwhile
	closed bool  // of a single thread only buffers that it has filled
	most   int64 // bytes to read, beyond one buffer of each thread; 0: everything
	memory *bufferMemory
	odd    func(err error) // called with files that cannot be buffers
	hook   func()          // for tests: called before each header is read
}

// settled is what is known of the buffers of a living process at one moment. By use of a buffer, it
// is how many words precede the first call that had not returned; allWords if its thread had filled
// it.
type settled map[uint64]int

const allWords = math.MaxInt

// readBuffers reads the record buffers that the recorder has not consumed yet. It also returns all
// buffers that there are.
//
// Threads of a living process go on while they are read. A record may depend on those of other
// threads that were committed before, so all that is passed on of one thread must be older than
// what is seen of the others:
//
//  1. Find which buffers are filled, and how many records of the others are committed.
//  2. After that, list the buffers again and read them.
//  3. Pass on what step 1 found, as far as it is still there: a thread may use a buffer again whose
//     records it has copied to another file. Of each thread with further records, also pass on the
//     epoch at which they begin (Source.Beyond).
func (d *Directory) readBuffers(r *recorder.Recorder, how reading) (sources []*recorder.Source, files []bufferFile, err error) {
	if files, err = d.listBuffers(how); err != nil {
		return nil, nil, err
	}
	var known settled
	if how.living {
		how.closed = how.closed && !severalThreads(r, files)
		if known, err = d.settle(r, files, how); err != nil {
			return nil, nil, err
		}
		if files, err = d.listBuffers(how); err != nil {
			return nil, nil, err
		}
		how.closed = how.closed && !severalThreads(r, files)
	}
	for i := range files {
		files[i].done = files[i].consumedBy(r)
	}
	for _, t := range chooseBuffers(r, files, known, how) {
		s, err := d.readSource(r, t, known, how)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, s)
	}
	return sources, files, nil
}

// settle is step 1.
func (d *Directory) settle(r *recorder.Recorder, files []bufferFile, how reading) (settled, error) {
	known := settled{}
	for i := range files {
		f := &files[i]
		switch {
		case f.consumedBy(r):
		case f.header.Closed:
			known[f.header.Taken] = allWords
		case how.closed: // nobody reads it now
		case how.most > 0 && f.size > maxLiveBuffer: // nobody reads it now (isTooMuch)
		default:
			b, err := d.readBuffer(f, true, how.memory)
			if errors.Is(err, errMoved) {
				continue // nothing of it is known
			}
			if err != nil {
				return known, err
			}
			known[f.header.Taken] = settledIn(b)
		}
	}
	return known, nil
}

// whole reports whether all of a buffer is passed on.
func (how *reading) whole(f *bufferFile, known settled) bool {
	return !how.living || known[f.header.Taken] == allWords
}

func severalThreads(r *recorder.Recorder, files []bufferFile) bool {
	return len(r.Threads()) > 1 || slices.ContainsFunc(files, func(f bufferFile) bool { return f.header.Thread != files[0].header.Thread })
}

// listBuffers reads the headers of all buffers, about in the order in which their records are
// consumed (package recorder): what a reading includes should not have to wait for what it does
// not. Those of a thread are in the order in which it took them.
func (d *Directory) listBuffers(how reading) (files []bufferFile, err error) {
	words := make([]uint64, record.BufferHeaderWords)
	read := func(name string) error {
		files, err = d.appendBuffers(files, name, how, words)
		switch {
		case errors.Is(err, plainfile.ErrOdd):
			how.odd(err)
		case !errors.Is(err, os.ErrNotExist):
			return err
		case !how.living && !slices.Contains(ringFiles, name):
			return err
		}
		return nil // for a living process: it was removed after it was listed
	}
	// A slot of the ring that is copied meanwhile is in one of both.
	for _, name := range ringFiles {
		if err := read(name); err != nil {
			return nil, err
		}
	}
	names, err := d.buffers()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := read(name); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b bufferFile) int {
		return cmp.Or(cmp.Compare(a.header.Taken, b.header.Taken), cmp.Compare(a.name, b.name), cmp.Compare(a.slot, b.slot))
	})
	// a buffer that was just taken has no epoch yet
	latest := map[uint32]uint64{}
	for i := range files {
		f := &files[i]
		f.epoch = max(f.header.Epoch, latest[f.header.Thread])
		latest[f.header.Thread] = f.epoch
	}
	slices.SortStableFunc(files, func(a, b bufferFile) int {
		return cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.header.Thread, b.header.Thread))
	})
	return files, nil
}

// buffers returns the names of the files with buffers, without those of the ring. If the directory
// cannot be read it returns an error, not an empty list.
func (d *Directory) buffers() (names []string, err error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, bufferSuffix) && !slices.Contains(ringFiles, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// appendBuffers reads the headers of all buffers in a file.
func (d *Directory) appendBuffers(files []bufferFile, name string, how reading, words []uint64) ([]bufferFile, error) {
	file, f, err := d.openBuffer(bufferPlace{name: name})
	if err != nil {
		return files, err
	}
	defer file.Close()
	for f.slot = range int(f.slotsOfFile()) {
		if how.hook != nil {
			how.hook()
		}
		switch err := f.readHeader(file, words); {
		case errors.Is(err, record.ErrNoBuffer): // no thread has used it yet, or it is still being created
		case err != nil:
			return files, err
		default:
			files = append(files, f)
		}
	}
	return files, nil
}

// openBuffer opens the file that a buffer is in.
func (d *Directory) openBuffer(place bufferPlace) (file *os.File, f bufferFile, err error) {
	f.bufferPlace = place
	if file, f.onTmpfs, err = d.openFile(place.name); err != nil {
		return nil, f, err
	}
	if f.stride, err = place.slotSize(file); err != nil {
		file.Close()
		return nil, f, err
	}
	return file, f, nil
}

// slotSize returns the size of the slots of an open file.
func (p bufferPlace) slotSize(file *os.File) (int64, error) {
	slots := p.slotsOfFile()
	size, err := plainfile.Size(file, slots*maxBufferFile)
	if err == nil && slots > 1 && size%(slots*record.BufferHeaderBytes) != 0 {
		err = fmt.Errorf("%s is %w: %d bytes are not %d buffers", p.name, plainfile.ErrOdd, size, slots)
	}
	return size / slots, err
}

// at returns the position of a byte of the buffer in its file.
func (f *bufferFile) at(offset int64) int64 { return int64(f.slot)*f.stride + offset }

func (f *bufferFile) readHeader(file *os.File, words []uint64) (err error) {
	if f.stride < record.BufferHeaderBytes {
		return record.ErrNoBuffer // it is still being created
	}
	_, err = file.ReadAt(record.BytesOf(words[:record.BufferHeaderWords]), f.at(0))
	switch {
	case errors.Is(err, io.EOF):
		return record.ErrNoBuffer
	case err != nil:
		return err
	}
	f.header, err = record.ParseBufferHeader(words)
	f.size = f.stride
	if f.isCopy() {
		f.size = record.BufferHeaderBytes + int64(min(f.header.Used, uint64(f.stride-record.BufferHeaderBytes)))
	}
	return err
}

// headerNow reads a buffer's header.
func (d *Directory) headerNow(place bufferPlace, words []uint64) (bufferFile, error) {
	file, f, err := d.openBuffer(place)
	if err != nil {
		return f, err
	}
	return f, errors.Join(f.readHeader(file, words), file.Close())
}

// readBuffer reads the buffer in a file. Only the used words are read, since the file of a short
// run is mostly unused. For a living process it returns errMoved if the buffer is not in the use
// any more that f is about.
func (d *Directory) readBuffer(f *bufferFile, living bool, memory *bufferMemory) (*record.Buffer, error) {
	words := memory.take(record.BufferHeaderWords)
	defer func() { memory.used = append(memory.used, words) }()
	file, now, err := d.openBuffer(f.bufferPlace)
	if err == nil {
		defer file.Close()
		err = now.readHeader(file, words)
	}
	if living && (errors.Is(err, record.ErrNoBuffer) || errors.Is(err, os.ErrNotExist)) {
		return nil, errMoved
	}
	if err != nil {
		return nil, err
	}
	if words, err = readRecords(file, &now, words, memory); err != nil {
		return nil, err
	}
	if living { // a thread that takes the buffer anew changes the header first
		after, err := d.headerNow(f.bufferPlace, memory.header[:])
		if err != nil || !now.isUseOf(f) || !after.isUseOf(f) {
			return nil, errMoved
		}
	}
	return &record.Buffer{Thread: now.header.Thread, Sequence: now.header.Sequence, Words: words}, nil
}

// isUseOf reports whether two headers of a place are of one use of its buffer. One of them may have
// been read while a thread wrote it.
func (f *bufferFile) isUseOf(other *bufferFile) bool {
	a, b := &f.header, &other.header
	return a.Taken == b.Taken && a.Thread == b.Thread && a.Sequence == b.Sequence
}

// readRecords reads the records of a buffer behind its header. A long buffer is read on only while
// its records follow each other: whoever writes to the directory can make up any length.
func readRecords(file *os.File, f *bufferFile, words []uint64, memory *bufferMemory) ([]uint64, error) {
	const piece = 1 << 20 / 8
	at, have := record.BufferHeaderWords, record.BufferHeaderWords
	end := have + int(min(f.header.Used, uint64(f.size-record.BufferHeaderBytes))/8)
	for next := have + piece; have < end; {
		next = min(max(next, 2*have), end)
		words = memory.grow(words, next)
		n, err := file.ReadAt(record.BytesOf(words[have:]), f.at(int64(have)*8))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		words = words[:have+n/8]
		if have = len(words); have < next || have == end {
			break // the file is shorter than it was, or this is all
		}
		b := record.Buffer{Words: words}
		for next = at; next <= have; {
			at = next
			claim := b.Claim(at)
			if claim == 0 {
				return words, nil
			}
			next += claim
		}
	}
	return words, nil
}

// settledIn returns how many words of a buffer precede the first call that has not returned.
func settledIn(b *record.Buffer) int {
	at := record.BufferHeaderWords
	var c record.Composer
	for {
		rec, size := b.At(at, &c)
		if size == 0 || rec.Open {
			return at
		}
		at += size
	}
}

// A threadBuffers is the buffers of a thread that a reading includes, in order.
type threadBuffers struct {
	thread uint32
	files  []bufferFile
	next   uint64 // sequence number of the next one
	more   bool   // there are others
	epoch  uint64 // at which those begin, or before
}

// chooseBuffers returns the buffers to read, thread by thread.
func chooseBuffers(r *recorder.Recorder, files []bufferFile, known settled, how reading) (chosen []*threadBuffers) {
	byThread := map[uint32]*threadBuffers{}
	of := func(thread uint32) *threadBuffers {
		t := byThread[thread]
		if t == nil {
			t = &threadBuffers{thread: thread, next: r.NextBuffer(thread)}
			byThread[thread] = t
			chosen = append(chosen, t)
		}
		return t
	}
	left := how.most
	for i := range files {
		f := &files[i]
		h := &f.header
		switch {
		case f.done && how.living:
			of(h.Thread).epoch = f.epoch
			continue
		case f.done, how.closed && known[h.Taken] != allWords:
			continue
		}
		t := of(h.Thread)
		n := len(t.files)
		switch {
		case t.more || n > 0 && h.Sequence < t.next: // the latter is a copy
			continue
		case how.living && h.Sequence != t.next:
			t.more = true // the one before was taken while the headers were read
			continue
		case how.isTooMuch(f, n == 0, left), n > 0 && !how.whole(&t.files[n-1], known):
			t.more, t.epoch = true, f.epoch
			continue
		}
		left -= f.size
		t.next, t.epoch = h.Sequence+1, f.epoch
		t.files = append(t.files, *f)
	}
	if how.living && !slices.ContainsFunc(files, func(f bufferFile) bool { return f.header.Stopped != "" }) {
		// A thread has a buffer that is not full, until tracing stops. Where none is listed the
		// thread was changing it, and others may have records that are younger than its next one.
		for _, thread := range r.Threads() {
			of(thread)
		}
		for _, t := range chosen {
			n := len(t.files)
			t.more = t.more || n == 0 || t.files[n-1].header.Closed
		}
	}
	slices.SortFunc(chosen, func(a, b *threadBuffers) int { return cmp.Compare(a.thread, b.thread) })
	return chosen
}

// isTooMuch reports whether a buffer is left to a later reading. left is how many bytes are to be
// read in this one. The first buffer of each thread is read beyond that, so that the reading gets
// on; but whoever writes to the directory can make up threads and lengths.
func (how *reading) isTooMuch(f *bufferFile, first bool, left int64) bool {
	const threads = 8 // times how.most that the first buffers of threads may have
	switch {
	case how.most == 0:
		return false
	case first:
		return how.living && f.size > maxLiveBuffer || left < -threads*how.most
	}
	return f.size > left
}

// readSource reads the buffers of a thread. The last one may be passed on in part.
func (d *Directory) readSource(r *recorder.Recorder, t *threadBuffers, known settled, how reading) (*recorder.Source, error) {
	s := r.NewSource(t.thread)
	s.Closed, s.Ended = true, !how.living
	s.More, s.Beyond = t.more, t.epoch
	for i := range t.files {
		f := &t.files[i]
		whole := how.whole(f, known)
		end, seen := known[f.header.Taken]
		var b *record.Buffer
		err := errMoved
		if whole || seen {
			b, err = d.readBuffer(f, how.living, how.memory)
		}
		if errors.Is(err, errMoved) { // its records are elsewhere, or it was not there in step 1
			s.More, s.Beyond = true, f.epoch
			break
		}
		if err != nil {
			return nil, err
		}
		s.Buffers = append(s.Buffers, b)
		if whole {
			continue
		}
		s.Closed = false
		var c record.Composer
		if next, size := b.At(end, &c); size > 0 && !next.Open {
			s.More, s.Beyond = true, next.Epoch
		}
		b.Words = b.Words[:min(end, len(b.Words))]
	}
	r.Resume(s)
	return s, nil
}

// A bufferMemory is memory for the words of buffers, which can be used again.
type bufferMemory struct {
	free, used [][]uint64
	header     [record.BufferHeaderWords]uint64
}

// reset takes back what was used. The buffers that were read are invalid then.
func (m *bufferMemory) reset() {
	m.free = append(m.free, m.used...)
	m.used = m.used[:0]
}

// take returns n words.
func (m *bufferMemory) take(n int) []uint64 {
	var words []uint64
	if last := len(m.free) - 1; last >= 0 {
		words, m.free = m.free[last], m.free[:last]
	}
	return m.grow(words, n)
}

// grow returns n words that begin with these.
func (m *bufferMemory) grow(words []uint64, n int) []uint64 {
	if cap(words) < n {
		words = append(make([]uint64, 0, n), words...)
	}
	return words[:n]
}
