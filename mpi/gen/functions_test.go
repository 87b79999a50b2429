package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-mpi/cairn/mpi"
)

func TestParseFunctions(t *testing.T) {
	const text = `
# A comment.
3 MPI_Gatherish 1.0-2.0 all-to-one blocking -> double
  large 5 MPI_Gatherish_c 4.0
  sendbuf  in     buffer                           # another
  counts   in     count     [size(comm)]  root unless-inplace(sendbuf)
  request  inout  request                 freed
  root     in     root
  comm     in     comm
`
	got, err := parseFunctions("f.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	params := func(count string) []mpi.Param {
		return []mpi.Param{
			{Name: "sendbuf", Kind: mpi.KindBuffer, CType: "void", Const: true},
			{Name: "counts", Kind: mpi.KindCount, CType: count, Const: true, RootOnly: true, UnlessInPlace: 1,
				Length: mpi.Term{Op: mpi.TermSize, Param: 4}},
			{Name: "request", Direction: mpi.InOut, Kind: mpi.KindRequest, CType: "MPI_Request", Effect: mpi.EffectFreed},
			{Name: "root", Kind: mpi.KindRoot, CType: "int", RankOf: 5},
			{Name: "comm", Kind: mpi.KindComm, CType: "MPI_Comm"},
		}
	}
	want := []mpi.Function{
		3: {ID: 3, Name: "MPI_Gatherish", Since: 100, Deprecated: 200, Class: "all-to-one blocking",
			Return: mpi.KindDouble, ReturnType: "double", Large: 5, Params: params("int")},
		5: {ID: 5, Name: "MPI_Gatherish_c", Since: 400, Deprecated: 200, Class: "all-to-one blocking",
			Return: mpi.KindDouble, ReturnType: "double", Small: 3, Params: params("MPI_Count")},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestParseFunctionsRejects gives the parser what nobody can mean. Each case
// is a whole file; the error has to name the line.
func TestParseFunctionsRejects(t *testing.T) {
	const header = "1 MPI_X 1.0 query\n"
	for _, c := range []struct{ name, text, want string }{
		{"parameter first", "  comm in comm\n", "f.txt:1: a parameter without a function"},
		{"short header", "1 MPI_X 1.0\n", "f.txt:1: want `id name version class`"},
		{"id zero", "0 MPI_X 1.0 query\n", "f.txt:1: bad id \"0\""},
		{"id too large", "65536 MPI_X 1.0 query\n", "f.txt:1: bad id \"65536\""},
		{"id twice", "1 MPI_X 1.0 query\n1 MPI_Y 1.0 query\n", "f.txt:2: MPI_Y has the id 1 of MPI_X"},
		{"name twice", "1 MPI_X 1.0 query\n\n2 MPI_X 1.0 query\n", "f.txt:3: MPI_X is there twice"},
		{"name", "1 Send 1.0 query\n", "f.txt:1: bad function name"},
		{"version", "1 MPI_X 1 query\n", "f.txt:1: bad version \"1\""},
		{"versions", "1 MPI_X 1.0-2.0-3.0-4.0 query\n", "f.txt:1: want since-deprecated-removed"},
		{"operation", "1 MPI_X 1.0 frobnicate\n", "f.txt:1: no such class: \"frobnicate\""},
		{"word of a class", "1 MPI_X 1.0 send sideways\n", "f.txt:1: no such class: \"send sideways\""},
		{"class", "1 MPI_X 1.0 -> int\n", "f.txt:1: no such class: \"\""},
		{"return", "1 MPI_X 1.0 query ->\n", "f.txt:1: want one kind after ->"},
		{"large name", header + "  large 2 MPI_Y_c 4.0\n", "f.txt:2: want MPI_X_c, got MPI_Y_c"},
		{"large words", header + "  large 2 MPI_X_c\n", "f.txt:2: want `large id name version`"},
		{"large id", header + "  large 1 MPI_X_c 4.0\n", "f.txt:2: MPI_X_c has the id 1 of MPI_X"},
		{"short parameter", header + "  comm in\n", "f.txt:2: want `name direction kind`"},
		{"parameter twice", header + "  comm in comm\n  comm in comm\n", "f.txt:3: parameter comm is there twice"},
		{"direction", header + "  comm at comm\n", "f.txt:2: bad direction \"at\""},
		{"kind", header + "  comm in commune\n", "f.txt:2: no such kind: \"commune\""},
		{"untyped callback", header + "  fn in function\n", "f.txt:2: kind function needs a C type"},
		{"flag", header + "  comm in comm shiny\n", "f.txt:2: no such flag: \"shiny\""},
		{"open flag", header + "  a in int or(X\n", "f.txt:2: bad flag \"or(X\""},
		{"open length", header + "  a in int [3\n", "f.txt:2: bad length [3"},
		{"two lengths", header + "  a in int [3] [4]\n", "f.txt:2: a second length [4]"},
		{"inner length", header + "  a in int [3][b]\n", "f.txt:2: bad length [3][b]"},
		{"unknown length", header + "  a in int [n]\n", "f.txt:2: no parameter \"n\""},
		{"unknown result", header + "  a out int [3:*n]\n", "f.txt:2: no parameter \"n\""},
		{"unknown term", header + "  a in int [area(comm)]\n  comm in comm\n", "f.txt:2: bad length term \"area(comm)\""},
		{"term arity", header + "  a in int [size(comm,comm)]\n  comm in comm\n", "f.txt:2: bad number of arguments"},
		{"length from an array", header + "  n in int [3]\n  a in int [n]\n", "f.txt:3: a length cannot come from n"},
		{"length from an out", header + "  n out int\n  a in int [n]\n", "f.txt:3: a length cannot come from n"},
		{"length from a handle", header + "  n in comm\n  a in int [n]\n", "f.txt:3: a length cannot come from n"},
		{"result of an in", header + "  n in int\n  a out int [3:*n]\n", "f.txt:3: a length cannot come from n"},
		{"size of an int", header + "  n in int\n  a in int [size(n)]\n", "f.txt:3: a length cannot come from n"},
		{"sum of a scalar", header + "  n in int\n  a in int [sum(n)]\n", "f.txt:3: a length cannot come from n"},
		{"contents of a comm", header + "  n in comm\n  a in int [integers(n)]\n", "f.txt:3: a length cannot come from n"},
		{"in place of an int", header + "  n in int\n  a in int unless-inplace(n)\n", "f.txt:3: unless-inplace(n): not a buffer"},
		{"if of an int", header + "  n out int\n  a out int if(n)\n", "f.txt:3: if(n): not an out bool"},
		{"if on an in", header + "  f out bool\n  a in int if(f)\n", "f.txt:3: if() on a parameter that the call does not set"},
		{"by-pointer out", header + "  a out int by-pointer\n", "f.txt:2: by-pointer is for in scalars"},
		{"root without a root", header + "  a in int root\n", "f.txt:2: significant only at the root, but"},
		{"silent handle", header + "  comm out comm\n", "f.txt:2: say what happens to the comm"},
		{"new in", header + "  comm in comm new\n", "f.txt:2: new is for out handles"},
		{"new int", header + "  a out int new\n", "f.txt:2: new: a int is no handle"},
		{"completed comm", header + "  comm inout comm completed\n", "f.txt:2: completed is for inout requests"},
		{"kept out", header + "  comm out comm kept\n", "f.txt:2: kept is for inout handles"},
		{"consumed comm", header + "  comm inout comm consumed\n", "f.txt:2: consumed is for messages"},
		{"ranks of two", header + "  r in rank\n  a in comm\n  b in comm\n", "f.txt:2: ranks of a or of b?"},
		{"ranks of an int", header + "  r in rank of(a)\n  a in int\n", "f.txt:2: of(a): nothing that has ranks"},
		{"int of a comm", header + "  a in int of(c)\n  c in comm\n", "f.txt:2: of() on a int"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseFunctions("f.txt", strings.NewReader(c.text))
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %q, want %q...", err, c.want)
			}
		})
	}
}
