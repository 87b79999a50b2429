package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/repository"
)

const sample = `package main

const size = 4

func sum(list []int, most int) (total int, err error) {
	for i, v := range list {
		if i < most && v != 3 {
			total += v * 2 // twice
		}
	}
	if total == 0 {
		return 0, error(none{})
	}
	list[0] = min(total, size+1)
	return total, nil
}

func main() {
	total, err := sum([]int{1, 2, 3, 4}, 2)
	println(total, err != nil)
}

type none struct{}

func (none) Error() string { return "none" }
`

func parse(t *testing.T, content string) *loaded {
	t.Helper()
	set := token.NewFileSet()
	p := &loaded{folder: "sample", set: set, imports: withSwitch{}}
	s := &source{name: "sample/sample.go", content: content}
	var err error
	s.syntax, err = parser.ParseFile(set, s.name, content, parser.ParseComments)
	require.NoError(t, err)
	p.files = []*source{s}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	p.types, err = p.check(p.info, nil)
	require.NoError(t, err)
	return p
}

// Every operator finds its code, and constants stay.
func TestSites(t *testing.T) {
	var found []string
	for _, s := range findSites(parse(t, sample)) {
		if s.Function == "sum" {
			found = append(found, s.Operator+": "+s.Source)
		}
	}
	assert.ElementsMatch(t, []string{
		"return: ", "skip: for i, v := range list",
		"negate: i < most && v != 3", "logic: i < most && v != 3",
		"boundary: i < most", "equality: v != 3", "constant + 1: 3", "constant - 1: 3",
		"omit: total += v * 2", "arithmetic: total += v * 2", "arithmetic: v * 2",
		"constant + 1: 2", "constant - 1: 2",
		"negate: total == 0", "constant + 1: 0", "constant - 1: 0", "constant + 1: 0", "constant - 1: 0",
		"hide: return 0, error(none{})",
		"constant + 1: 0", "constant - 1: 0",
		"omit: list[0] = min(total, size+1)", "extreme: min(total, size+1)",
		"constant + 1: size+1", "constant - 1: size+1",
	}, found)
}

// All mutants are in one program, and each does what its name says if it is switched on.
func TestMutatedProgram(t *testing.T) {
	p := parse(t, sample)
	sites := findSites(p)
	for i := range sites {
		sites[i].Number = i + 1
		assert.True(t, compiles(p, sites[i]), sites[i].Operator, sites[i].Source)
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":                      "module " + strings.TrimSuffix(module, "/") + "\ngo 1.26\n",
		"sample.go":                   p.files[0].mutated(sites),
		"internal/mutants/mutants.go": switchCode,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666))
	}
	build := exec.Command("go", "build", "-o", "sample", ".")
	build.Dir = folder
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	numberOf := func(operator, source string) string {
		i := slices.IndexFunc(sites, func(s site) bool {
			return s.Operator == operator && s.Source == source
		})
		return "CAIRN_MUTANT=" + strconv.Itoa(i+1)
	}
	for _, c := range []struct{ operator, source, result string }{
		{"", "", "6 false"},
		{"return", "", "0 false"},
		{"skip", "for i, v := range list", "0 true"},
		{"negate", "i < most && v != 3", "14 false"},
		{"logic", "i < most && v != 3", "14 false"},
		{"boundary", "i < most", "6 false"},
		{"omit", "total += v * 2", "0 true"},
		{"arithmetic", "total += v * 2", "-6 false"},
		{"negate", "total == 0", "0 true"},
		{"constant + 1", "2", "9 false"},
	} {
		run := exec.Command("./sample")
		run.Dir, run.Env = folder, append(os.Environ(), numberOf(c.operator, c.source))
		out, err := run.CombinedOutput()
		require.NoError(t, err)
		assert.Equal(t, c.result, strings.TrimSpace(string(out)), "%s of %s", c.operator, c.source)
	}
}

// Each fault of the list changes code that is there.
func TestFaults(t *testing.T) {
	faults, err := parseFaults(shimFaults)
	require.NoError(t, err)
	for _, f := range faults {
		files, err := filepath.Glob(filepath.Join(repository.Root(), f.files))
		require.NoError(t, err)
		assert.True(t, slices.ContainsFunc(files, func(file string) bool {
			code, err := os.ReadFile(file)
			require.NoError(t, err)
			changed, ok := f.apply(string(code))
			return ok && changed != string(code)
		}), f.what)
	}
}

func TestFaultOfSeveralLines(t *testing.T) {
	f := fault{in: "int g(", before: []string{"if (x)", "y();"}}
	changed, ok := f.apply("int f() {\n\tif (x)\n\t\ty();\n}\nint g() {\n\tif (x)\n\t\ty();\n}\n")
	assert.True(t, ok)
	assert.Equal(t, "int f() {\n\tif (x)\n\t\ty();\n}\nint g() {\n\t\n}\n", changed)
}

func TestReports(t *testing.T) {
	reporting, err := withReports("a_test.go", `package a

func TestA(t *testing.T) {
	t.Run("b", func(t *testing.T) { t.Parallel() })
}
`)
	require.NoError(t, err)
	assert.Equal(t, `package a; import cairnmutants "github.com/cairn-mpi/cairn/internal/mutants"

func TestA(t *testing.T) {; cairnmutants.Test(t.Name());
	t.Run("b", func(t *testing.T) { t.Parallel(); cairnmutants.Test(t.Name()); })
}
`, reporting)
}

func TestCompare(t *testing.T) {
	results := func(outcomes ...string) map[mutant]result {
		list := map[mutant]result{}
		for i, o := range outcomes {
			m := mutant{Number: i + 1, Package: "trace", Source: strconv.Itoa(i)}
			list[m.key()] = result{Outcome: o, mutant: m}
		}
		return list
	}
	var out strings.Builder
	lost := compare(&out, results(killed, timeout, survived, killed, killed),
		results(killed, survived, unreached, gone))
	assert.Equal(t, 2, lost, "one survives, one has not run")
	assert.Contains(t, out.String(), "gone; before killed")
	assert.Contains(t, out.String(), "timeout by ; now survived, 0 tests")
}

// A small tree with a mutant for each outcome.
func TestRun(t *testing.T) {
	root, own := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module " + strings.TrimSuffix(module, "/") + "\ngo 1.26\n",
		"a/a.go": `package a

func max(x, y int) int {
	if x > y {
		return x
	}
	return y
}

func unused() int { return 1 }
`,
		"a/a_test.go": `package a

import "testing"

func TestMax(t *testing.T) {
	t.Parallel()
	if max(1, 2) != 2 {
		t.Fatal()
	}
}
`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o666))
	}
	defer func(s []subject) { subjects = s }(subjects)
	subjects = []subject{{"a", []string{"a"}}}
	tree, err := openTree(t.Context(), root)
	require.NoError(t, err)
	list, err := draw(t.Context(), tree, 1, 6)
	require.NoError(t, err)
	list = append(list, mutant{Number: 7, Package: "a", Function: "min"})
	r := &runner{tree: tree, folder: own, budget: 10}
	for range 2 { // the second time all is known
		require.NoError(t, r.run(t.Context(), list))
	}
	results, err := readResults(r.file("results"))
	require.NoError(t, err)
	var outcomes []string
	for _, b := range results {
		outcomes = append(outcomes, b.Function+" "+b.Operator+": "+b.Outcome+" "+b.Test)
	}
	assert.ElementsMatch(t, []string{
		"max negate: killed a TestMax", "max boundary: survived ", "max return: killed a TestMax",
		"unused return: unreached ", "unused constant + 1: unreached ",
		"unused constant - 1: unreached ", "min : gone ",
	}, outcomes)
	lines, err := readLines[result](r.file("results"))
	require.NoError(t, err)
	assert.Len(t, lines, len(list))
}
