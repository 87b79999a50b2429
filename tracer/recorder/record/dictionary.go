package record

import (
	"bufio"
	"io"
	"math"
	"path/filepath"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// DictionaryFile is the name of the dictionary in the process directory. In this file the shim
// describes what words in records refer to: modules that were loaded after MPI_Init, call paths,
// allocations. An entry is written before the first record that needs it is committed, and never
// changes. Entries of a type are numbered in file order.
//
// An entry consists of words: length of the entry in bytes | type << 32, then by type
//
//	module      base, limit, build id, path (texts as in records: length, bytes padded to a word)
//	path        return addresses, innermost first
//	allocation  kind, number, size, address of what allocated it (of a module: its base), ordinal
//	line        of a source file of an interpreter: line, function, file (texts)
const DictionaryFile = "dictionary"

const (
	// MaxDictionary is the memory in bytes, as Memory estimates it, from which on entries are
	// missing. It is a constant, since a recovery must see what the recorder saw.
	MaxDictionary = 16 << 20

	readBytes   = 16 << 10 // read at once: each read may open the file
	maxEntry    = 1 << 20
	entryMemory = 64 // of an entry, beside its bytes in the file
)

// A word of a record that refers to an entry has the upper bits 10, which no address of a program
// has, and a number: of a path in the word of the return address, or of an allocation, with the
// offset in it, in the word of a pointer.
const (
	AllocationShift = rawlayout.OffsetBits
	OffsetMask      = 1<<AllocationShift - 1
	AllocationMask  = 1<<(rawlayout.EntryShift-AllocationShift) - 1
)

// LineTag in the word of the return address marks the number of a line.
const LineTag = 1 << rawlayout.LineBit

// IsEntry reports whether a word refers to an entry.
func IsEntry(word uint64) bool { return word>>rawlayout.EntryShift == rawlayout.EntryTag }

// A Dictionary is the entries of the file that were read so far. The zero value has no file.
type Dictionary struct {
	file        io.ReaderAt // nil: none
	offset      int64       // of the next entry
	memory      int
	over        bool // no later entry is read
	Full        bool // that is because of MaxDictionary
	Modules     []Module
	Paths       [][]uint64
	Allocations []trace.Allocation // Site is 0
	Origins     []uint64           // of the buffers: addresses
	Lines       []trace.Site
}

// Follow reads the file now and at every call of Refresh. It must be readable as long as the
// dictionary is in use.
func (d *Dictionary) Follow(file io.ReaderAt) {
	d.file = file
	d.Refresh()
}

// Refresh reads new entries of the file. Entries that cannot be read are treated as missing:
// records that need them lose their site or allocation. One that is incomplete is being written.
func (d *Dictionary) Refresh() {
	if d.over || d.file == nil {
		return
	}
	file := bufio.NewReaderSize(io.NewSectionReader(d.file, d.offset, math.MaxInt64-d.offset), readBytes)
	for {
		var head [1]uint64
		if _, err := io.ReadFull(file, BytesOf(head[:])); err != nil {
			return
		}
		n := Low(head[0])
		if n < 8 || n%8 != 0 || n > maxEntry {
			d.over = true // damaged: no later entry can be found
			return
		}
		if d.Full = d.memory+entryMemory+int(n) > MaxDictionary; d.Full {
			d.over = true
			return
		}
		words := make([]uint64, n/8-1)
		if _, err := io.ReadFull(file, BytesOf(words)); err != nil {
			return
		}
		d.add(uint64(High(head[0])), words)
		d.memory += entryMemory + int(n)
		d.offset += int64(n)
	}
}

// Memory estimates the memory of the entries in bytes.
func (d *Dictionary) Memory() int { return d.memory }

func (d *Dictionary) add(kind uint64, words []uint64) {
	r := Reader{Words: words, OK: true}
	switch kind {
	case rawlayout.EntryModule:
		m := Module{Base: Address(r.Word()), Limit: Address(r.Word())}
		buildID, _, _ := r.Text()
		path, _, _ := r.Text()
		m.BuildID, m.Path = string(buildID), string(path)
		if r.OK {
			d.Modules = append(d.Modules, m)
		}
	case rawlayout.EntryPath:
		d.Paths = append(d.Paths, words)
	case rawlayout.EntryLine:
		line := r.Word()
		function, _, _ := r.Text()
		file, _, _ := r.Text()
		var s trace.Site // a malformed entry keeps its number
		if r.OK && line <= math.MaxInt32 {
			// A program in an interpreted language has no build id: the file replaces it, and the
			// line replaces the offset.
			s = trace.Site{BuildID: string(file), Module: filepath.Base(string(file)), Offset: line, Function: string(function),
				File: string(file), Line: int(line)}
		}
		d.Lines = append(d.Lines, s)
	case rawlayout.EntryAllocation:
		s := trace.Allocation{Kind: trace.AllocationKind(r.Word()), Number: int(r.Word()), Size: r.Word()}
		origin := r.Word()
		s.Ordinal = int(r.Word())
		if !r.OK || s.Kind < trace.HeapAllocation || s.Kind > trace.UnknownAllocation || int(int32(s.Number)) != s.Number || s.Number < 0 ||
			int(int32(s.Ordinal)) != s.Ordinal || s.Ordinal < 0 {
			// a malformed entry keeps its number
			s, origin = trace.Allocation{Kind: trace.UnknownAllocation}, 0
		}
		d.Allocations = append(d.Allocations, s)
		d.Origins = append(d.Origins, origin)
	}
}

// Module returns the module that was loaded last at an address.
func (d *Dictionary) Module(address uint64) *Module {
	for i := len(d.Modules) - 1; i >= 0; i-- {
		if m := &d.Modules[i]; address >= uint64(m.Base) && address < uint64(m.Limit) {
			return m
		}
	}
	return nil
}
