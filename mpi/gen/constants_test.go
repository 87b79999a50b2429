package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-mpi/cairn/mpi"
)

func TestParseConstants(t *testing.T) {
	got, err := parseConstants("c.txt", strings.NewReader("2 MPI_A 1.0-2.0-3.0 rank,root\n1 MPI_B 4.0 buffer pointer optional\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []mpi.Constant{
		1: {ID: 1, Name: "MPI_B", Since: 400, Kinds: []mpi.Kind{mpi.KindBuffer}, Pointer: true, Optional: true},
		2: {ID: 2, Name: "MPI_A", Since: 100, Deprecated: 200, Removed: 300, Kinds: []mpi.Kind{mpi.KindRank, mpi.KindRoot}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestParseConstantsRejects(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1 MPI_A 1.0\n", "c.txt:1: want `id name version kinds`"},
		{"  1 MPI_A 1.0 int\n", "c.txt:1: want `id name version kinds`"},
		{"x MPI_A 1.0 int\n", "c.txt:1: bad id \"x\""},
		{"1 A 1.0 int\n", "c.txt:1: bad constant name \"A\""},
		{"1 MPI_A 0.1 int\n", "c.txt:1: bad version \"0.1\""},
		{"1 MPI_A 1.0 int,ink\n", "c.txt:1: no such kind: \"ink\""},
		{"1 MPI_A 1.0 int shiny\n", "c.txt:1: no such flag: \"shiny\""},
		{"1 MPI_A 1.0 int\n1 MPI_B 1.0 int\n", "c.txt:2: MPI_B has the id 1 of MPI_A"},
		{"1 MPI_A 1.0 int\n2 MPI_A 1.0 int\n", "c.txt:2: MPI_A is there twice"},
	} {
		_, err := parseConstants("c.txt", strings.NewReader(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s...", c.text, err, c.want)
		}
	}
}
