package symbols

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoSymbols reports a binary without the name of any function.
var ErrNoSymbols = errors.New("the binary has neither debug information nor a symbol table")

// A Binary is an executable or shared library to extract symbols from.
type Binary struct {
	Path  string
	File  io.ReaderAt
	Debug io.ReaderAt // its separate debug file, which must have the same build id; nil: none
	// MaxDebugBytes is the limit for the size of the debug information, which is in memory as a
	// whole. Above it there are only the names of the symbol table. 0 is no limit.
	MaxDebugBytes uint64
}

// Extract reads the symbols of a binary on this machine, with its separate debug file where
// distributions install it.
func Extract(path string) (*Table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := Binary{Path: path, File: file}
	if id, err := buildIDOf(path); err == nil && len(id) >= 4 {
		if separate, err := os.Open(filepath.Join(debugRoot, id[:2], id[2:]+".debug")); err == nil {
			defer separate.Close()
			b.Debug = separate
		}
	}
	return b.Extract()
}

const debugRoot = "/usr/lib/debug/.build-id"

// Extract reads the symbols of the binary. With ErrNoSymbols it returns an empty table.
func (b Binary) Extract() (*Table, error) {
	file, err := elf.NewFile(b.File)
	if err != nil {
		return nil, fmt.Errorf("%s: not an ELF binary: %w", b.Path, err)
	}
	base, code, ok := mapped(file)
	if !ok {
		return nil, fmt.Errorf("%s: nothing in it is ever mapped", b.Path)
	}
	id, err := buildID(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Path, err)
	}
	t := &Table{BuildID: id, Module: filepath.Base(b.Path)}
	if id == "" {
		t.BuildID = b.Path
	}
	e := extraction{table: t, base: base, code: code, fileIDs: map[string]int32{}}
	if data := b.debugInformation(file, id); data != nil {
		// damaged DWARF keeps what was read before the damage
		e.readDWARF(data)
	}
	e.readSymbols(file)
	t.functions = sortFunctions(e.functions)
	t.lines = sortLines(e.lines)
	t.instances, t.stretches = e.instances, stretches(e.spans)
	if len(t.functions) == 0 && len(t.lines) == 0 {
		return t, fmt.Errorf("%s: %w", b.Path, ErrNoSymbols)
	}
	return t, nil
}

type extraction struct {
	table     *Table
	base      uint64
	code      [][2]uint64 // executable parts: from, to
	functions []function
	lines     []line
	instances []instance
	spans     []span
	fileIDs   map[string]int32
}

// mapped returns the address, as in the file, of the first mapped page, and the
// executable address ranges.
func mapped(file *elf.File) (lowest uint64, code [][2]uint64, found bool) {
	const page = 4096
	lowest = ^uint64(0)
	for _, p := range file.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		lowest, found = min(lowest, p.Vaddr&^(page-1)), true
		if p.Flags&elf.PF_X != 0 {
			code = append(code, [2]uint64{p.Vaddr, p.Vaddr + p.Memsz})
		}
	}
	return lowest, code, found
}

// isCode reports whether a range of addresses is in one executable segment. Dropped functions have
// address 0, which is in none.
func (e *extraction) isCode(start, end uint64) bool {
	return slices.ContainsFunc(e.code, func(part [2]uint64) bool { return part[0] <= start && end <= part[1] })
}

const (
	noteBuildID     = 3 // NT_GNU_BUILD_ID
	maxNotes        = 1 << 20
	maxBuildIDBytes = 64
)

// buildID returns the GNU build id in hex, "" if there is none.
func buildID(file *elf.File) (string, error) {
	for _, p := range file.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > maxNotes {
			continue
		}
		notes, err := io.ReadAll(p.Open())
		if err != nil {
			return "", err
		}
		if id := findBuildID(notes, file); id != "" {
			return id, nil
		}
	}
	return "", nil
}

// findBuildID walks notes: sizes of name and content, type, then both padded to four bytes.
func findBuildID(notes []byte, file *elf.File) string {
	order := file.ByteOrder
	pad := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
	for len(notes) >= 12 {
		nameSize, size, kind := order.Uint32(notes), order.Uint32(notes[4:]), order.Uint32(notes[8:])
		notes = notes[12:]
		if pad(nameSize)+pad(size) > uint64(len(notes)) {
			return ""
		}
		name, content := notes[:nameSize], notes[pad(nameSize):pad(nameSize)+uint64(size)]
		if kind == noteBuildID && string(name) == "GNU\x00" && len(content) <= maxBuildIDBytes {
			return hex.EncodeToString(content)
		}
		notes = notes[pad(nameSize)+pad(size):]
	}
	return ""
}

// debugInformation returns the binary's DWARF data, or that of its separate file, or nil.
func (b Binary) debugInformation(file *elf.File, id string) *dwarf.Data {
	if file.Section(".debug_line") != nil || file.Section(".zdebug_line") != nil {
		if data := b.readDebugInformation(file); data != nil {
			return data
		}
	}
	if b.Debug == nil {
		return nil
	}
	separate, err := elf.NewFile(b.Debug)
	if err != nil {
		return nil
	}
	if of, err := buildID(separate); err != nil || of != id {
		return nil
	}
	return b.readDebugInformation(separate)
}

func (b Binary) readDebugInformation(file *elf.File) *dwarf.Data {
	total := uint64(0)
	for _, s := range file.Sections {
		if strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_") {
			total += min(s.Size, math.MaxUint32) // as it is in memory, not as compressed
		}
	}
	if b.MaxDebugBytes > 0 && total > b.MaxDebugBytes {
		return nil
	}
	data, err := file.DWARF()
	if err != nil {
		return nil
	}
	return data
}

// readSymbols adds the functions of the symbol table. Those of DWARF, which were added before, take
// precedence: they have the names of the source.
func (e *extraction) readSymbols(file *elf.File) {
	for _, read := range []func() ([]elf.Symbol, error){file.Symbols, file.DynamicSymbols} {
		symbols, err := read()
		if err != nil {
			continue
		}
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || s.Value < e.base {
				continue
			}
			e.add(s.Name, s.Value, s.Value+max(s.Size, 1))
		}
	}
}

func (e *extraction) add(name string, start, end uint64) {
	if name == "" || start < e.base || end <= start {
		return
	}
	e.functions = append(e.functions, function{start - e.base, end - e.base, name})
}

// buildIDOf reads only the build id of a binary.
func buildIDOf(path string) (string, error) {
	file, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: not an ELF binary: %w", path, err)
	}
	defer file.Close()
	return buildID(file)
}

// exists reports whether a file exists.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
