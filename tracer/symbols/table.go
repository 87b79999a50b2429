package symbols

import (
	"sort"
)

// A Table has the symbols of one binary.
type Table struct {
	BuildID   string // hex; the path of the binary if it has none
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

// line applies from its offset to that of the next one. File −1: no information.
type line struct {
	offset uint64
	file   int32
	line   int32
}

// A Location is the source location of a call; unknown parts are zero.
type Location struct {
	Function string // as the source has it, not as the linker has it
	File     string
	Line     int
}

// A Frame is a source location in a call path.
type Frame struct {
	Location
	// Offset identifies the frame, like trace.Site.Offset: the offset of the return address, or,
	// for a frame into which the function of the previous frame is inlined, the offset of the first
	// byte of the inlined code + 1.
	Offset uint64
}

// Lookup returns the source location of a call by the offset of its return address, in the
// innermost inlined function.
func (t *Table) Lookup(offset uint64) (Location, bool) {
	frames := t.Frames(offset)
	if len(frames) == 0 {
		return Location{}, false
	}
	return frames[0].Location, true
}

// Frames returns the source location of a call by the offset of its return address, followed by
// those of the calls that were inlined, from the innermost to the function that has the code; nil
// if nothing is known.
//
// The return address is behind the call, and may be the first of the next line or function, so the
// byte before it is looked up. The first byte of a function refers to the function itself (a
// callback), not to code inlined at its beginning.
func (t *Table) Frames(offset uint64) []Frame {
	if offset == 0 {
		return nil
	}
	at := offset - 1
	var p Location
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
		p.Function = readable(one.name)
		frames = append(frames, Frame{p, offset})
		p, offset, in = Location{}, one.start+1, one.within
		if one.file >= 0 {
			p.File, p.Line = t.files[one.file], int(one.line)
		}
	}
	p.Function = readable(function)
	if p == (Location{}) && len(frames) == 0 {
		return nil
	}
	return append(frames, Frame{p, offset})
}

// sortFunctions sorts functions and removes overlaps: of two with the same start the first
// given one is kept, or the first one with the linker's name in C++, and a function ends where
// the next begins.
func sortFunctions(functions []function) []function {
	sort.SliceStable(functions, func(i, j int) bool { return functions[i].start < functions[j].start })
	kept := functions[:0]
	for _, f := range functions {
		if f.end <= f.start {
			continue
		}
		if n := len(kept); n > 0 {
			if kept[n-1].start == f.start {
				if isMangled(f.name) && !isMangled(kept[n-1].name) {
					kept[n-1].name = f.name
				}
				continue
			}
			kept[n-1].end = min(kept[n-1].end, f.start)
		}
		kept = append(kept, f)
	}
	return kept
}

// sortLines sorts rows and drops those that repeat their predecessor. If one sequence ends and
// another begins at the same offset, the beginning is kept.
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
				kept[n-1] = l // the later row at an address is the valid one
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
