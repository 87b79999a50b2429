package symbols

import (
	"debug/dwarf"
)

// A level of DWARF's tree.
type level struct {
	in    int32  // the instance that the level's entries are inlined into; −1: none
	scope string // namespaces, classes and functions around the level's entries; only of C++
}

// readDWARF adds the functions, lines and inlined code of all compilation units.
func (e *extraction) readDWARF(data *dwarf.Data) {
	names := newNamer(data)
	r := data.Reader()
	var files []*dwarf.LineFile // of the unit
	var levels []level          // around the entry
	isCPP := false
	defer func() { names.qualify(e) }()
	for {
		entry, err := r.Next()
		if err != nil || entry == nil {
			return
		}
		inside := level{in: -1} // the entry
		if len(levels) > 0 {
			inside = levels[len(levels)-1]
		}
		switch entry.Tag {
		case 0: // the end of a level
			levels = levels[:max(0, len(levels)-1)]
			continue
		case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit:
			files, isCPP = e.readLines(data, entry), isOfCPP(entry)
			levels = levels[:0]
		case dwarf.TagNamespace, dwarf.TagModule:
			// functions are inside
			inside.scope = within(inside.scope, entry, isCPP)
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			if inside.scope = within(inside.scope, entry, isCPP); !isCPP {
				r.SkipChildren()
				continue
			}
		case dwarf.TagSubprogram:
			inside.in = -1
			names.enter(entry, inside.scope)
			// Without ranges it is a declaration, or inlined everywhere. Its children may still be
			// functions: Fortran's contained procedures.
			if ranges, err := data.Ranges(entry); err == nil && len(ranges) > 0 {
				name := names.of(entry)
				for _, x := range ranges {
					e.add(name, x[0], x[1])
				}
			}
			inside.scope = within(inside.scope, entry, isCPP)
		case dwarf.TagInlinedSubroutine:
			inside.in = e.inlined(data, entry, names.of(entry), files, inside.in)
		case dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock, dwarf.TagWithStmt:
			// inlined functions are inside
		default:
			if entry.Children {
				r.SkipChildren()
			}
			continue
		}
		if entry.Children {
			levels = append(levels, inside)
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
