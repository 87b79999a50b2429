package symbols

import (
	"debug/dwarf"
	"strconv"
	"strings"
)

// A namer finds the name of a function, which may be an attribute of its declaration.
//
// A C++ function that other files can call has its linker's name in DWARF. Another one (in an
// anonymous namespace, or static) has its own name only: the namespaces and classes around its
// declaration, which may come later, are prepended at the end. Until then it has a placeholder.
type namer struct {
	data  *dwarf.Data
	known map[dwarf.Offset]string
	scope map[dwarf.Offset]string // of declarations that are in one
}

func newNamer(data *dwarf.Data) *namer {
	return &namer{data, map[dwarf.Offset]string{}, map[dwarf.Offset]string{}}
}

// placeholder separates the name of a function from the offset of its declaration.
const placeholder = "\x00"

// enter records the scope of a function without a linker's name.
func (n *namer) enter(entry *dwarf.Entry, scope string) {
	if _, named := entry.Val(dwarf.AttrName).(string); named && scope != "" && linkage(entry) == "" {
		n.scope[entry.Offset] = scope
	}
}

func linkage(entry *dwarf.Entry) string {
	if name, ok := entry.Val(dwarf.AttrLinkageName).(string); ok && isMangled(name) {
		return name
	}
	return ""
}

// of returns the linker's name of a C++ or Rust function, and the name in the source of all others,
// with the placeholder.
func (n *namer) of(entry *dwarf.Entry) string {
	// a definition refers to its abstract instance, which refers to a declaration
	const longestChain = 8
	name := ""
	var passed []dwarf.Offset
	for range longestChain {
		if of := linkage(entry); of != "" {
			name = of
			break
		}
		if own, ok := entry.Val(dwarf.AttrName).(string); ok {
			name = own + placeholder + strconv.FormatUint(uint64(entry.Offset), 16)
		}
		at, ok := entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if at, ok = entry.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				break
			}
		}
		if known, ok := n.known[at]; ok {
			name = known
			break
		}
		passed = append(passed, at)
		r := n.data.Reader()
		r.Seek(at)
		next, err := r.Next()
		if err != nil || next == nil {
			break
		}
		entry = next
	}
	for _, at := range passed {
		n.known[at] = name
	}
	return name
}

// qualify replaces the placeholders by the scopes.
func (n *namer) qualify(e *extraction) {
	for i := range e.functions {
		e.functions[i].name = n.qualified(e.functions[i].name)
	}
	for i := range e.instances {
		e.instances[i].name = n.qualified(e.instances[i].name)
	}
}

func (n *namer) qualified(name string) string {
	own, at, ok := strings.Cut(name, placeholder)
	if !ok {
		return name
	}
	offset, err := strconv.ParseUint(at, 16, 64)
	if scope := n.scope[dwarf.Offset(offset)]; err == nil && scope != "" {
		return scope + "::" + own
	}
	return own
}

// isOfCPP reports whether a compilation unit is in C++.
func isOfCPP(unit *dwarf.Entry) bool {
	language, _ := unit.Val(dwarf.AttrLanguage).(int64)
	switch language {
	case 0x04, 0x19, 0x1a, 0x21, 0x2b, 0x2c, 0x3a:
		// DW_LANG_C_plus_plus, …_03, …_11, …_14, …_17, …_20, …_23
		return true
	}
	return false
}

// within returns the scope of the children of an entry.
func within(scope string, entry *dwarf.Entry, isCPP bool) string {
	if !isCPP {
		return ""
	}
	name, _ := entry.Val(dwarf.AttrName).(string)
	switch {
	case name == "" && entry.Tag == dwarf.TagNamespace:
		name = "(anonymous namespace)"
	case strings.HasPrefix(name, "<lambda") && strings.HasSuffix(name, ">"):
		name = "{" + name[1:len(name)-1] + "}"
	case name == "" && entry.Tag != dwarf.TagSubprogram:
		name = "{lambda}"
	case name == "":
		return scope
	}
	if scope == "" {
		return name
	}
	return scope + "::" + name
}
