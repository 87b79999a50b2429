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

// Lookup finds the place of a call by its return address. That address lies
// after the call, and may be the first of the next line or function, so the
// byte before it counts.
func (t *Table) Lookup(offset uint64) (Place, bool) {
	if offset == 0 {
		return Place{}, false
	}
	offset--
	var p Place
	if i := sort.Search(len(t.functions), func(i int) bool { return t.functions[i].start > offset }); i > 0 {
		if f := t.functions[i-1]; offset < f.end {
			p.Function = f.name
		}
	}
	if i := sort.Search(len(t.lines), func(i int) bool { return t.lines[i].offset > offset }); i > 0 {
		if l := t.lines[i-1]; l.file >= 0 {
			p.File, p.Line = t.files[l.file], int(l.line)
		}
	}
	return p, p != Place{}
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
	return fmt.Sprintf("%s: %d functions, %d lines of %d files", t.Module, len(t.functions), len(t.lines), len(t.files))
}
