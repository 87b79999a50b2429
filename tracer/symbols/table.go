package symbols

import (
	"fmt"
	"sort"
)

// A Table is what one binary's symbols say.
type Table struct {
	BuildID   string // hex; the path of the binary when it has none
	Module    string // its file name
	functions []function
	lines     []line
	files     []string
	instances []instance
	stretches []stretch
}

// function is a range of code, by offset.
type function struct {
	start, end uint64
	name       string
}

// line holds from its offset to the next one's. File −1: nothing is known there.
type line struct {
	offset uint64
	file   int32
	line   int32
}

// A Place is where a call stands in the source; unknown parts are zero.
type Place struct {
	Function string
	File     string
	Line     int
}

// A Frame is a place of a call path.
type Frame struct {
	Place
	// Offset tells the frame from others, as trace.Site.Offset does: that of the return address, or, of a frame in which
	// the function of the frame before is inlined, that of the first byte of the inlined code + 1.
	Offset uint64
}

// Lookup finds the place of a call by its return address: in the innermost function, if one was inlined there.
func (t *Table) Lookup(offset uint64) (Place, bool) {
	frames := t.Frames(offset)
	if len(frames) == 0 {
		return Place{}, false
	}
	return frames[0].Place, true
}

// Frames are the place of a call, given by its return address, and then, if its function was inlined, those of the
// calls that were inlined, from the innermost outwards to the function that has the code; nil if nothing is known.
//
// The return address lies after the call, and may be the first of the next line or function, so the byte before it
// counts. The first byte of a function stands for the function itself (a callback), not for what it begins with.
func (t *Table) Frames(offset uint64) []Frame {
	if offset == 0 {
		return nil
	}
	at := offset - 1
	var p Place
	in := t.innermost(at)
	function := ""
	if i := sort.Search(len(t.functions), func(i int) bool { return t.functions[i].start > at }); i > 0 {
		if f := t.functions[i-1]; at < f.end {
			function = f.name
			if at == f.start {
				in = -1
			}
		}
	}
	if i := sort.Search(len(t.lines), func(i int) bool { return t.lines[i].offset > at }); i > 0 {
		if l := t.lines[i-1]; l.file >= 0 {
			p.File, p.Line = t.files[l.file], int(l.line)
		}
	}
	var frames []Frame
	for in >= 0 {
		one := &t.instances[in]
		p.Function = one.name
		frames = append(frames, Frame{p, offset})
		p, offset, in = Place{}, one.start+1, one.within
		if one.file >= 0 {
			p.File, p.Line = t.files[one.file], int(one.line)
		}
	}
	p.Function = function
	if p == (Place{}) && len(frames) == 0 {
		return nil
	}
	return append(frames, Frame{p, offset})
}

// sortFunctions orders functions and removes overlaps: of two that begin at
// the same place the first given wins, and a function ends where the next begins.
func sortFunctions(functions []function) []function {
	sort.SliceStable(functions, func(i, j int) bool { return functions[i].start < functions[j].start })
	kept := functions[:0]
	for _, f := range functions {
		if f.end <= f.start {
			continue
		}
		if n := len(kept); n > 0 {
			if kept[n-1].start == f.start {
				continue
			}
			kept[n-1].end = min(kept[n-1].end, f.start)
		}
		kept = append(kept, f)
	}
	return kept
}

// sortLines orders rows and drops those that repeat their predecessor. Where
// one sequence ends and another begins at the same offset, the beginning wins.
func sortLines(lines []line) []line {
	sort.SliceStable(lines, func(i, j int) bool {
		a, b := lines[i], lines[j]
		if a.offset != b.offset {
			return a.offset < b.offset
		}
		return a.file < 0 && b.file >= 0
	})
	kept := lines[:0]
	for _, l := range lines {
		if n := len(kept); n > 0 {
			if kept[n-1].offset == l.offset {
				kept[n-1] = l // the later row at an address is the one that holds
				if n > 1 && same(kept[n-2], l) {
					kept = kept[:n-1]
				}
				continue
			}
			if same(kept[n-1], l) {
				continue
			}
		}
		kept = append(kept, l)
	}
	return kept
}

func same(a, b line) bool { return a.file == b.file && a.line == b.line }

// String tells how much the table knows.
func (t *Table) String() string {
	return fmt.Sprintf("%s: %d functions, %d inlined, %d lines of %d files", t.Module, len(t.functions), len(t.instances), len(t.lines), len(t.files))
}
