package symbols

import (
	"debug/dwarf"
)

// readDWARF adds the functions and lines of all compilation units.
func (e *extraction) readDWARF(data *dwarf.Data) {
	names := namer{data: data, known: map[dwarf.Offset]string{}}
	r := data.Reader()
	for {
		entry, err := r.Next()
		if err != nil || entry == nil {
			return
		}
		switch entry.Tag {
		case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit:
			e.readLines(data, entry)
		case dwarf.TagNamespace, dwarf.TagModule:
			// functions are inside
		case dwarf.TagSubprogram:
			ranges, err := data.Ranges(entry)
			if err != nil || len(ranges) == 0 {
				continue // a declaration, or inlined everywhere; its contained procedures may not be
			}
			name := names.of(entry)
			for _, x := range ranges {
				e.add(name, x[0], x[1])
			}
			// its children may be functions: Fortran's contained procedures
		default:
			if entry.Children {
				r.SkipChildren()
			}
		}
	}
}

// maxRows bounds the memory and the file for a huge binary; its functions are still named.
const maxRows = 4 << 20

func (e *extraction) readLines(data *dwarf.Data, unit *dwarf.Entry) {
	r, err := data.LineReader(unit)
	if err != nil || r == nil {
		return
	}
	var entry dwarf.LineEntry
	for len(e.lines) < maxRows && r.Next(&entry) == nil {
		if entry.Address < e.base {
			continue // a section that the linker dropped
		}
		row := line{offset: entry.Address - e.base, file: -1}
		if !entry.EndSequence && entry.File != nil && entry.Line > 0 {
			row.file, row.line = e.file(entry.File.Name), int32(entry.Line)
		}
		e.lines = append(e.lines, row)
	}
}

func (e *extraction) file(name string) int32 {
	id, ok := e.fileIDs[name]
	if !ok {
		id = int32(len(e.table.files))
		e.fileIDs[name] = id
		e.table.files = append(e.table.files, name)
	}
	return id
}

// A namer finds the name of a function, which may stand at its declaration.
type namer struct {
	data  *dwarf.Data
	known map[dwarf.Offset]string
}

func (n *namer) of(entry *dwarf.Entry) string {
	const longestChain = 8 // a definition refers to its abstract instance, that one to a declaration
	for range longestChain {
		if name, ok := entry.Val(dwarf.AttrName).(string); ok {
			return name
		}
		at, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if at, ok = entry.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				return ""
			}
		}
		if name, ok := n.known[at]; ok {
			return name
		}
		r := n.data.Reader()
		r.Seek(at)
		next, err := r.Next()
		if err != nil || next == nil {
			return ""
		}
		if name, ok := next.Val(dwarf.AttrName).(string); ok {
			n.known[at] = name
		}
		entry = next
	}
	return ""
}
