package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A bufferFile is a record buffer in the directory, as it was when its header was read.
type bufferFile struct {
	name   string
	size   int64 // of the file
	header record.BufferHeader
}

// consumedBy reports whether a recorder has consumed all of the buffer's records.
func (f *bufferFile) consumedBy(r *recorder.Recorder) bool {
	return f.header.Sequence < r.NextBuffer(f.header.Thread)
}

// errMoved reports that buffers of a living process changed while they were read.
var errMoved = errors.New("record buffers were reused while they were read")

// A reading is a way to read the record buffers of a process.
type reading struct {
	living bool  // the process may go on meanwhile
	closed bool  // only buffers that no thread writes to, if all of them are of one thread
	most   int64 // bytes to read, beyond one buffer of each thread; 0: everything
	memory *bufferMemory
}

// readBuffers reads the record buffers that the recorder has not consumed yet. It also returns all
// buffers that there are.
//
// Threads of a living process go on while they are read. A record may depend on those of other
// threads that were committed before, so all that is passed on of one thread must be older than
// what is seen of the others:
//
//  1. Of each buffer that a thread writes to, find how many records are committed.
//  2. After that, read the buffers.
//  3. Pass on the records of step 1 only, with the epoch of the next one (Source.Beyond).
func (d *Directory) readBuffers(r *recorder.Recorder, how reading) (sources []*recorder.Source, files []bufferFile, err error) {
	if files, err = d.listBuffers(how.living); err != nil {
		return nil, nil, err
	}
	how.closed = how.closed && !severalThreads(files)
	settled := map[uint64]int{} // by use of a buffer: words of committed records, from step 1
	if how.living && !how.closed {
		for i := range files {
			f := &files[i]
			if f.header.Closed || f.consumedBy(r) {
				continue
			}
			if settled[f.header.Taken], err = d.settledWords(f, how.memory); err != nil {
				return nil, nil, err
			}
		}
		if len(settled) > 1 {
			if files, err = d.listBuffers(true); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, c := range chooseBuffers(r, files, how) {
		s, err := d.readSource(r, c, settled, how)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, s)
	}
	return sources, files, nil
}

func severalThreads(files []bufferFile) bool {
	return slices.ContainsFunc(files, func(f bufferFile) bool { return f.header.Thread != files[0].header.Thread })
}

// listBuffers reads the headers of all buffers, in the order in which threads took them.
func (d *Directory) listBuffers(living bool) (files []bufferFile, err error) {
	names, err := d.buffers()
	if err != nil {
		return nil, err
	}
	words := make([]uint64, record.BufferHeaderWords)
	for _, name := range names {
		f, err := d.readHeader(name, words)
		switch {
		case errors.Is(err, record.ErrNoBuffer):
			// a file that no thread has used yet, or that is still being created
			continue
		case errors.Is(err, os.ErrNotExist) && living:
			continue // removed between listing and opening
		case err != nil:
			return nil, err
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b bufferFile) int {
		return cmp.Or(cmp.Compare(a.header.Taken, b.header.Taken), cmp.Compare(a.name, b.name))
	})
	return files, nil
}

// buffers returns the names of the buffer files. If the directory cannot be read it returns an
// error, not an empty list.
func (d *Directory) buffers() ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), bufferSuffix) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// openBuffer opens a buffer file and reads its header.
func (d *Directory) openBuffer(name string, words []uint64) (file *os.File, f bufferFile, err error) {
	if file, err = plainfile.Open(d.root, name); err != nil {
		return nil, f, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > maxBufferFile {
		err = fmt.Errorf("%s is %w: %d bytes", name, plainfile.ErrOdd, info.Size())
	}
	if err == nil {
		_, err = file.ReadAt(record.BytesOf(words[:record.BufferHeaderWords]), 0)
		if errors.Is(err, io.EOF) {
			err = record.ErrNoBuffer
		}
	}
	f = bufferFile{name: name}
	if err == nil {
		f.size = info.Size()
		f.header, err = record.ParseBufferHeader(words)
	}
	if err != nil {
		file.Close()
		return nil, f, err
	}
	return file, f, nil
}

func (d *Directory) readHeader(name string, words []uint64) (bufferFile, error) {
	file, f, err := d.openBuffer(name, words)
	if err == nil {
		err = file.Close()
	}
	return f, err
}

// readBuffer reads the buffer in a file. Only the used words are read, since the file of a short run
// is mostly unused. For a living process it returns errMoved if the buffer is not in the use any
// more that f is about.
func (d *Directory) readBuffer(f *bufferFile, living bool, memory *bufferMemory) (*record.Buffer, error) {
	words := memory.take(record.BufferHeaderWords)
	file, now, err := d.openBuffer(f.name, words)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	used := int(min(now.header.Used, uint64(now.size-record.BufferHeaderBytes)) / 8)
	words = memory.grow(words, record.BufferHeaderWords+used)
	n, err := file.ReadAt(record.BytesOf(words[record.BufferHeaderWords:]), record.BufferHeaderBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if living { // a thread that takes the buffer anew changes the header first
		after, err := d.readHeader(f.name, memory.header[:])
		if err != nil || now.header.Taken != f.header.Taken || after.header.Taken != f.header.Taken {
			return nil, errMoved
		}
	}
	memory.used = append(memory.used, words)
	return &record.Buffer{Thread: now.header.Thread, Sequence: now.header.Sequence, Words: words[:record.BufferHeaderWords+n/8]}, nil
}

// settledWords returns how many words of a buffer precede the first call that has not returned.
func (d *Directory) settledWords(f *bufferFile, memory *bufferMemory) (int, error) {
	b, err := d.readBuffer(f, true, memory)
	if err != nil {
		return 0, err
	}
	return settledIn(b), nil
}

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
	more   bool   // there are others, which begin at epoch
	epoch  uint64
}

// chooseBuffers returns the buffers to read, thread by thread.
func chooseBuffers(r *recorder.Recorder, files []bufferFile, how reading) (chosen []*threadBuffers) {
	byThread := map[uint32]*threadBuffers{}
	left := how.most
	for _, f := range files {
		h := &f.header
		if f.consumedBy(r) || how.closed && !h.Closed {
			continue
		}
		t := byThread[h.Thread]
		if t == nil {
			t = &threadBuffers{thread: h.Thread, next: r.NextBuffer(h.Thread)}
			byThread[h.Thread] = t
			chosen = append(chosen, t)
		}
		switch {
		case t.more || len(t.files) > 0 && h.Sequence < t.next: // the latter is a copy
			continue
		case how.living && h.Sequence != t.next:
			t.more = true // the one before was taken while the headers were read
			continue
		case how.most > 0 && len(t.files) > 0 && left < f.size:
			t.more, t.epoch = true, h.Epoch
			continue
		}
		left -= f.size
		t.next = h.Sequence + 1
		t.files = append(t.files, f)
	}
	slices.SortFunc(chosen, func(a, b *threadBuffers) int { return cmp.Compare(a.thread, b.thread) })
	return chosen
}

// readSource reads the buffers of a thread. settled is how many words of those that it writes to
// are passed on.
func (d *Directory) readSource(r *recorder.Recorder, t *threadBuffers, settled map[uint64]int, how reading) (*recorder.Source, error) {
	s := r.NewSource(t.thread)
	s.Closed, s.Ended = !how.living, !how.living
	s.More, s.Beyond = t.more, t.epoch
	for i := range t.files {
		f := &t.files[i]
		b, err := d.readBuffer(f, how.living, how.memory)
		if err != nil {
			return nil, err
		}
		s.Buffers = append(s.Buffers, b)
		if !how.living {
			continue
		}
		if s.Closed = f.header.Closed; s.Closed {
			continue
		}
		end := max(settled[f.header.Taken], record.BufferHeaderWords)
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
