package symbols

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
)

// An instance is a function inlined at one call: an entry of DWARF's tree of inlined subroutines.
type instance struct {
	name   string
	within int32  // the instance that it is inlined into; −1: none, it is in the function's own code
	file   int32  // of the inlined call; −1: not known
	line   int32  // of the inlined call
	start  uint64 // offset of its first byte
}

// A stretch of code, from its offset to that of the next one, belongs to an innermost instance; −1:
// nothing is inlined there.
type stretch struct {
	offset uint64
	in     int32
}

// maxInstances limits memory and file size for a huge binary. Code of further instances belongs to
// the enclosing one.
const maxInstances = 1 << 20

// A span is a part of an instance's code.
type span struct {
	start, end uint64
	in         int32
}

// inlined adds an instance and returns its number, or within if its code is not known.
func (e *extraction) inlined(data *dwarf.Data, entry *dwarf.Entry, name string, files []*dwarf.LineFile, within int32) int32 {
	if name == "" || len(e.instances) >= maxInstances {
		return within
	}
	ranges, err := data.Ranges(entry)
	if err != nil {
		return within
	}
	number := int32(len(e.instances))
	start := ^uint64(0)
	for _, x := range ranges {
		if x[0] < x[1] && e.isCode(x[0], x[1]) {
			start = min(start, x[0]-e.base)
			e.spans = append(e.spans, span{x[0] - e.base, x[1] - e.base, number})
		}
	}
	if start == ^uint64(0) {
		return within // of an abstract instance, or of a section that the linker dropped
	}
	one := instance{name: name, within: within, file: -1, start: start}
	if file, ok := entry.Val(dwarf.AttrCallFile).(int64); ok && file >= 0 && file < int64(len(files)) && files[file] != nil {
		if line, ok := entry.Val(dwarf.AttrCallLine).(int64); ok && line > 0 {
			one.file, one.line = e.file(files[file].Name), int32(line)
		}
	}
	e.instances = append(e.instances, one)
	return number
}

// stretches overlays the spans of instances, the innermost on top. An inner instance comes after
// the one that it is in, and ends no later.
func stretches(spans []span) []stretch {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.in, b.in))
	})
	var list []stretch
	from := func(offset uint64, in int32) {
		if n := len(list); n > 0 && list[n-1].offset == offset {
			list = list[:n-1]
		}
		if n := len(list); n == 0 && in >= 0 || n > 0 && list[n-1].in != in {
			list = append(list, stretch{offset, in})
		}
	}
	var open []span
	leave := func(until uint64) {
		for len(open) > 0 && open[len(open)-1].end <= until {
			end, below := open[len(open)-1].end, int32(-1)
			open = open[:len(open)-1]
			if len(open) > 0 {
				below = open[len(open)-1].in
			}
			from(end, below)
		}
	}
	for _, s := range spans {
		leave(s.start)
		if len(open) > 0 {
			s.end = min(s.end, open[len(open)-1].end)
		}
		open = append(open, s)
		from(s.start, s.in)
	}
	leave(^uint64(0))
	return list
}

// innermost returns the instance with the byte at an offset; −1: none.
func (t *Table) innermost(offset uint64) int32 {
	i := sort.Search(len(t.stretches), func(i int) bool { return t.stretches[i].offset > offset })
	if i == 0 {
		return -1
	}
	return t.stretches[i-1].in
}
