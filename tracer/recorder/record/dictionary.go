package record

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// The dictionary is a file of the process directory in which the shim says what words of records stand for that it makes
// up as the process goes: modules that were loaded after MPI_Init, call paths, allocations. An entry is there before
// the first record that needs it is committed, is never changed, and entries of a type are numbered as they come.
//
// An entry is words: length of the entry in bytes | type << 32, then by type
//
//	module      base, limit, build id, path (texts as in records: length, bytes padded to a word)
//	path        return addresses, innermost first
//	allocation  kind, number, size, address of what allocated it (of a module: its base), ordinal
//	line        of a source file of an interpreter: line, function, file (texts)
const DictionaryFile = "dictionary"

const (
	EntryModule     = rawlayout.EntryModule
	EntryPath       = rawlayout.EntryPath
	EntryAllocation = rawlayout.EntrySegment
	entryLine       = rawlayout.EntryLine
)

const (
	MaxDictionary = 256 << 20 // bytes; one that has become longer is read so far by its own process, and by nobody else
	maxEntry      = 1 << 20
)

// A word of a record that stands for an entry has the bits 10 on top, which no address of a program has, and the
// number: of a path in the word of the return address, of an allocation, with the offset in it, in the word of a pointer.
const (
	EntryTag        = rawlayout.EntryMark
	EntryShift      = rawlayout.EntryShift
	AllocationShift = rawlayout.OffsetBits
	OffsetMask      = 1<<AllocationShift - 1
	AllocationMask  = 1<<(EntryShift-AllocationShift) - 1
)

// In the word of the return address this bit says that the number is that of a line.
const LineTag = 1 << rawlayout.LineBit

func IsEntry(word uint64) bool { return word>>EntryShift == EntryTag }

// A Dictionary is what was read of the file so far. The zero value has no file.
type Dictionary struct {
	file        string   // its path, of a living process
	open        *os.File // or the file itself, of a recovery; it is not closed here
	offset      int64    // of the next entry
	Modules     []Module
	Paths       [][]uint64
	Allocations []trace.Segment // Site is 0
	Origins     []uint64        // of the buffers: addresses
	Lines       []trace.Site
}

// Follow reads the file of a living process, now and whenever refresh is called.
func (d *Dictionary) Follow(path string) {
	d.file = path
	d.Refresh()
}

// Read reads the file of a process that has ended. It stays open as long as the dictionary is in use.
func (d *Dictionary) Read(f *os.File) {
	d.open = f
	d.Refresh()
}

// Refresh reads what has been added to the file. What cannot be read is as if it
// were not there: records that need it lose a site or a buffer.
func (d *Dictionary) Refresh() {
	if d.offset >= MaxDictionary {
		return
	}
	if d.open != nil {
		if info, err := d.open.Stat(); err == nil && info.Size() > d.offset {
			d.readOn(d.open)
		}
		return
	}
	if d.file == "" {
		return
	}
	// most often there is nothing new, and to be told so costs little
	var there unix.Stat_t
	if err := unix.Stat(d.file, &there); err != nil || there.Size <= d.offset {
		return
	}
	f, err := os.Open(d.file)
	if err != nil {
		return
	}
	defer f.Close()
	d.readOn(f)
}

// readOn reads the entries from offset on.
func (d *Dictionary) readOn(f *os.File) {
	more, err := io.ReadAll(io.NewSectionReader(f, d.offset, MaxDictionary-d.offset))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return
	}
	for len(more) >= 8 {
		head := binary.NativeEndian.Uint64(more)
		n := uint64(uint32(head))
		if n < 8 || n%8 != 0 || n > maxEntry {
			d.offset = MaxDictionary // damaged: nothing after this can be found
			break
		}
		if n > uint64(len(more)) {
			break // it is being written
		}
		words := make([]uint64, n/8-1)
		for i := range words {
			words[i] = binary.NativeEndian.Uint64(more[8+8*i:])
		}
		d.add(head>>32, words)
		more = more[n:]
		d.offset += int64(n)
	}
}

func (d *Dictionary) add(kind uint64, words []uint64) {
	r := Reader{Words: words, OK: true}
	switch kind {
	case EntryModule:
		m := Module{Base: Address(r.Word()), Limit: Address(r.Word())}
		buildID, _, _ := r.Text()
		path, _, _ := r.Text()
		m.BuildID, m.Path = string(buildID), string(path)
		if r.OK {
			d.Modules = append(d.Modules, m)
		}
	case EntryPath:
		d.Paths = append(d.Paths, words)
	case entryLine:
		line := r.Word()
		function, _, _ := r.Text()
		file, _, _ := r.Text()
		var s trace.Site // it keeps its number
		if r.OK && line <= math.MaxInt32 {
			// An interpreter's program has no build id: the file stands for it, the line for the offset.
			s = trace.Site{BuildID: string(file), Module: filepath.Base(string(file)), Offset: line, Function: string(function),
				File: string(file), Line: int(line)}
		}
		d.Lines = append(d.Lines, s)
	case EntryAllocation:
		s := trace.Segment{Kind: trace.SegmentKind(r.Word()), Number: int(r.Word()), Size: r.Word()}
		origin := r.Word()
		s.Ordinal = int(r.Word())
		if !r.OK || s.Kind < trace.HeapSegment || s.Kind > trace.UnknownSegment || int(int32(s.Number)) != s.Number || s.Number < 0 ||
			int(int32(s.Ordinal)) != s.Ordinal || s.Ordinal < 0 {
			s, origin = trace.Segment{Kind: trace.UnknownSegment}, 0 // it keeps its number
		}
		d.Allocations = append(d.Allocations, s)
		d.Origins = append(d.Origins, origin)
	}
}

// Module finds the module that was loaded last at an address.
func (d *Dictionary) Module(address uint64) *Module {
	for i := len(d.Modules) - 1; i >= 0; i-- {
		if m := &d.Modules[i]; address >= uint64(m.Base) && address < uint64(m.Limit) {
			return m
		}
	}
	return nil
}
