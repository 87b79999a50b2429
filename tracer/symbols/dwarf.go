package symbols

import (
	"debug/dwarf"
)

// readDWARF adds the functions, lines and inlined code of all compilation units.
func (e *extraction) readDWARF(data *dwarf.Data) {
	names := namer{data: data, known: map[dwarf.Offset]string{}}
	r := data.Reader()
	var files []*dwarf.LineFile // of the unit
	var around []int32          // by level of the tree: the instance that the level's entries are inlined into; −1: none
	for {
		entry, err := r.Next()
		if err != nil || entry == nil {
			return
		}
		in := int32(-1)
		if len(around) > 0 {
			in = around[len(around)-1]
		}
		switch entry.Tag {
		case 0: // the end of a level
			around = around[:max(0, len(around)-1)]
			continue
		case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit:
			files = e.readLines(data, entry)
			around = around[:0]
		case dwarf.TagNamespace, dwarf.TagModule:
			// functions are inside
		case dwarf.TagSubprogram:
			in = -1
			// Without ranges it is a declaration, or inlined everywhere. Its children may still be functions: Fortran's
			// contained procedures.
			if ranges, err := data.Ranges(entry); err == nil && len(ranges) > 0 {
				name := names.of(entry)
				for _, x := range ranges {
					e.add(name, x[0], x[1])
				}
			}
		case dwarf.TagInlinedSubroutine:
			in = e.inlined(data, entry, names.of(entry), files, in)
		case dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock, dwarf.TagWithStmt:
			// inlined functions are inside
		default:
			if entry.Children {
				r.SkipChildren()
			}
			continue
		}
		if entry.Children {
			around = append(around, in)
		}
	}
}

// maxRows limits memory and file size for a huge binary; its functions still have names.
const maxRows = 4 << 20

// readLines adds the lines of a unit and returns its files, by number.
func (e *extraction) readLines(data *dwarf.Data, unit *dwarf.Entry) []*dwarf.LineFile {
	r, err := data.LineReader(unit)
	if err != nil || r == nil {
		return nil
	}
	var entry dwarf.LineEntry
	for len(e.lines) < maxRows && r.Next(&entry) == nil {
		if entry.Address < e.base {
			continue // the linker dropped the section
		}
		row := line{offset: entry.Address - e.base, file: -1}
		if !entry.EndSequence && entry.File != nil && entry.Line > 0 {
			row.file, row.line = e.file(entry.File.Name), int32(entry.Line)
		}
		e.lines = append(e.lines, row)
	}
	return r.Files()
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

// A namer finds the name of a function, which may be an attribute of its declaration.
type namer struct {
	data  *dwarf.Data
	known map[dwarf.Offset]string
}

func (n *namer) of(entry *dwarf.Entry) string {
	const longestChain = 8 // a definition refers to its abstract instance, which refers to a declaration
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
