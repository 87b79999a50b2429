package main

import (
	"io"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

// parseFunctions reads functions.txt and returns the functions by id. Unused ids, including 0, are
// zero entries.
func parseFunctions(file string, r io.Reader) ([]mpi.Function, error) {
	lines, err := readLines(file, r)
	if err != nil {
		return nil, err
	}
	t := functionTable{ids: make(map[string]uint16)}
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].indent {
			n++
		}
		if err := t.addBlock(lines[0], lines[1:n]); err != nil {
			return nil, err
		}
		lines = lines[n:]
	}
	t.linkLarge()
	return t.byID, nil
}

// linkLarge connects functions with their large-count forms, including those with a block of their
// own because their parameters differ.
func (t *functionTable) linkLarge() {
	for id := range t.byID {
		f := &t.byID[id]
		small, ok := t.ids[strings.TrimSuffix(f.Name, "_c")]
		if strings.HasSuffix(f.Name, "_c") && ok {
			f.Small = small
			t.byID[small].Large = f.ID
		}
	}
}

type functionTable struct {
	byID []mpi.Function
	ids  map[string]uint16
}

func (t *functionTable) add(l line, f mpi.Function) error {
	if _, ok := t.ids[f.Name]; ok {
		return l.errorf("%s is there twice", f.Name)
	}
	t.ids[f.Name] = f.ID
	for int(f.ID) >= len(t.byID) {
		t.byID = append(t.byID, mpi.Function{})
	}
	if other := t.byID[f.ID].Name; other != "" {
		return l.errorf("%s has the id %d of %s", f.Name, f.ID, other)
	}
	t.byID[f.ID] = f
	return nil
}

// addBlock adds the function of a block, and its large-count form.
func (t *functionTable) addBlock(header line, body []line) error {
	f, err := parseHeader(header)
	if err != nil {
		return err
	}
	var large *mpi.Function
	var largeLine line
	if len(body) > 0 && body[0].fields[0] == "large" {
		largeLine = body[0]
		large, err = parseLarge(largeLine, f)
		if err != nil {
			return err
		}
		body = body[1:]
	}
	if n := len(body); n > 0 && body[n-1].fields[0] == "..." {
		f.Variadic = true
		body = body[:n-1]
	}
	f.Params, err = parseParams(body, strings.HasSuffix(f.Name, "_c"))
	if err != nil {
		return err
	}
	if err := t.add(header, *f); err != nil {
		return err
	}
	if large == nil {
		return nil
	}
	large.Params, err = parseParams(body, true)
	if err != nil {
		return err
	}
	return t.add(largeLine, *large)
}

// parseHeader reads `ID NAME SINCE[-DEPRECATED[-REMOVED]] CLASS... [-> KIND[:TYPE]]`.
func parseHeader(l line) (*mpi.Function, error) {
	if l.indent {
		return nil, l.errorf("a parameter without a function")
	}
	if len(l.fields) < 4 {
		return nil, l.errorf("want `id name version class`, got %d words", len(l.fields))
	}
	id, err := parseID(l, l.fields[0])
	if err != nil {
		return nil, err
	}
	f := &mpi.Function{ID: id, Name: l.fields[1], Return: mpi.KindErrorCode, ReturnType: "int"}
	if !strings.HasPrefix(f.Name, "MPI_") {
		return nil, l.errorf("bad function name %q", f.Name)
	}
	if err := parseVersions(l, l.fields[2], &f.Since, &f.Deprecated, &f.Removed); err != nil {
		return nil, err
	}
	words := l.fields[3:]
	for i, w := range words {
		if w != "->" {
			continue
		}
		if i+2 != len(words) {
			return nil, l.errorf("want one kind after ->")
		}
		kind, ctype, err := parseKind(l, words[i+1], false)
		if err != nil {
			return nil, err
		}
		f.Return, f.ReturnType = kind, ctype
		words = words[:i]
		break
	}
	f.Class = mpi.Class(strings.Join(words, " "))
	if !f.Class.Valid() {
		return nil, l.errorf("no such class: %q", f.Class)
	}
	return f, nil
}

// parseLarge reads `large ID NAME SINCE`.
func parseLarge(l line, small *mpi.Function) (*mpi.Function, error) {
	if len(l.fields) != 4 {
		return nil, l.errorf("want `large id name version`")
	}
	id, err := parseID(l, l.fields[1])
	if err != nil {
		return nil, err
	}
	if l.fields[2] != small.Name+"_c" {
		return nil, l.errorf("want %s_c, got %s", small.Name, l.fields[2])
	}
	f := *small
	f.ID, f.Name = id, l.fields[2]
	f.Since, err = parseVersion(l, l.fields[3])
	return &f, err
}
