package main

import (
	"io"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

// parseConstants reads constants.txt, lines of
// `id name since[-deprecated[-removed]] kind[,kind...] [flags]`, and returns
// the constants by id.
func parseConstants(file string, r io.Reader) ([]mpi.Constant, error) {
	lines, err := readLines(file, r)
	if err != nil {
		return nil, err
	}
	var byID []mpi.Constant
	names := make(map[string]bool)
	for _, l := range lines {
		c, err := parseConstant(l)
		if err != nil {
			return nil, err
		}
		for int(c.ID) >= len(byID) {
			byID = append(byID, mpi.Constant{})
		}
		if other := byID[c.ID].Name; other != "" {
			return nil, l.errorf("%s has the id %d of %s", c.Name, c.ID, other)
		}
		if names[c.Name] {
			return nil, l.errorf("%s is there twice", c.Name)
		}
		names[c.Name] = true
		byID[c.ID] = c
	}
	return byID, nil
}

func parseConstant(l line) (c mpi.Constant, err error) {
	if l.indent || len(l.fields) < 4 {
		return c, l.errorf("want `id name version kinds`")
	}
	if c.ID, err = parseID(l, l.fields[0]); err != nil {
		return c, err
	}
	c.Name = l.fields[1]
	if !strings.HasPrefix(c.Name, "MPI_") {
		return c, l.errorf("bad constant name %q", c.Name)
	}
	if err := parseVersions(l, l.fields[2], &c.Since, &c.Deprecated, &c.Removed); err != nil {
		return c, err
	}
	for name := range strings.SplitSeq(l.fields[3], ",") {
		kind, ok := mpi.KindByName(name)
		if !ok {
			return c, l.errorf("no such kind: %q", name)
		}
		c.Kinds = append(c.Kinds, kind)
	}
	for _, flag := range l.fields[4:] {
		switch flag {
		case "pointer":
			c.Pointer = true
		case "optional":
			c.Optional = true
		default:
			return c, l.errorf("no such flag: %q", flag)
		}
	}
	return c, nil
}
