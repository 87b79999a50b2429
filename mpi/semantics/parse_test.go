package semantics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/repository"
)

const module = "github.com/cairn-mpi/cairn/"

// texts are the texts that define the meaning of a function or a parameter.
var texts = map[string]bool{
	module + "mpi.Function.Class":              true,
	module + "mpi.Function.ParamIndex":         true,
	module + "mpi.Param.Name":                  true,
	module + "trace.Function.Class":            true,
	module + "trace.Parameter.Name":            true,
	module + "mpi/semantics.Function.Words":    true,
	module + "mpi/semantics.Declaration.Class": true,
	module + "mpi/semantics.Parameter.Name":    true,
}

// mayUse has the files that may use them, and the purpose. None may compare them with its own
// words.
var mayUse = map[string]string{
	"trace/sections.go":                  "reads and writes them",
	"trace/signature.go":                 "gives them to this package",
	"trace/event.go":                     "prints names",
	"tracer/recorder/signature.go":       "writes them",
	"tracer/gen/*":                       "writes C, of which names are a part",
	"tracer/verify/*":                    "finds parameters by the names that the log has",
	"internal/tracetest/*":               "finds parameters by the names that a test gives",
	"analyzer/clusters/likeness.go":      "ignores parameters that the user names",
	"analyzer/logical/read.go":           "prints names",
	"analyzer/program/value.go":          "prints names",
	"analyzer/skeleton/call.go":          "names variables after them",
	"analyzer/skeleton/portable.go":      "prints names",
	"analyzer/skeleton/results.go":       "names variables after them",
	"analyzer/skeleton/compare.go":       "prints names",
	"analyzer/export/perfetto/export.go": "shows the class as the category of a slice",
	"replayer/gen/*":                     "writes C, of which names are a part",
	"analyzer/reduce/histogram_call.go":  "names the arguments that histograms are of",
}

// A finding is a use of such a text.
type finding struct {
	file, text string
	line       int
	parses     bool // it is compared with words, or parsed
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s", f.file, f.line, strings.TrimPrefix(f.text, module))
}

// TestNobodyElseParses: except in package mpi and this one, no code parses a class, or looks up a
// parameter by its name.
func TestNobodyElseParses(t *testing.T) {
	used := map[string]bool{}
	for _, f := range searchTree(t) {
		assert.False(t, f.parses, "%s is compared with words or taken apart: say it in package semantics and use that", f)
		allowed := ""
		for _, pattern := range []string{f.file, filepath.Dir(f.file) + "/*"} {
			if mayUse[pattern] != "" {
				allowed = pattern
			}
		}
		assert.NotEmpty(t, allowed, "%s is used: say it in package semantics and use that, or list the file in mayUse", f)
		used[allowed] = true
	}
	for pattern := range mayUse {
		assert.True(t, used[pattern], "%s is in mayUse and uses nothing", pattern)
	}
}

// TestTheSearchFinds checks the search on snippets: each of these must be found.
func TestTheSearchFinds(t *testing.T) {
	exports := exportsOf(t)
	search := func(body string) []finding {
		t.Helper()
		source := "package planted\n\nimport (\n\t\"strings\"\n\t\"slices\"\n\n\t\"" + module + "mpi\"\n\t\"" + module + "trace\"\n)\n\n" +
			"var _, _, _, _ = strings.Cut, slices.Contains[[]string], mpi.ByID, trace.Open\n\n" +
			"func planted(f *trace.Function, p *trace.Parameter, s *mpi.Function) any {\n\t" + body + "\n}\n"
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "planted.go", source, 0)
		require.NoError(t, err)
		found, err := searchPackage(fset, "planted", []*ast.File{file}, importerOf(fset, exports))
		require.NoError(t, err, source)
		return found
	}
	for body, parses := range map[string]bool{
		`return f.Class == "init"`:                                            true,
		`return "dest" != p.Name`:                                             true,
		`switch f.Class { case "init": return 1 }; return 0`:                  true,
		`switch { case p.Name == "root": return 1 }; return 0`:                true,
		`return strings.Fields(f.Class)`:                                      true,
		`return slices.Contains([]string{"count"}, p.Name)`:                   true,
		`return map[string]int{"send": 1}[f.Class]`:                           true,
		`return s.Class.Op() == "send"`:                                       true,
		`return s.Class.Has("nonblocking")`:                                   true,
		`return strings.Contains(string(s.Class), "collective")`:              true,
		`return f.Class[:4]`:                                                  true,
		`return s.ParamIndex("comm")`:                                         true,
		`return f.Parameters[0].Name + " " + f.Class > ""`:                    true,
		`name := p.Name; return name == "dest"`:                               false, // found all the same: it is used
		`return func(s string) bool { return s == "dest" }(s.Params[0].Name)`: false,
	} {
		found := search(body)
		require.NotEmpty(t, found, body)
		assert.Equal(t, parses, slices.ContainsFunc(found, func(f finding) bool { return f.parses }), body)
	}
	for _, body := range []string{`return f.Name == "MPI_Send"`, `return p.Kind`, `return s.ID`, `return "init"`} {
		assert.Empty(t, search(body), body)
	}
}

// searchTree searches all packages that can know functions but mpi and this one, without their tests.
func searchTree(t *testing.T) []finding {
	t.Helper()
	fset := token.NewFileSet()
	exports := exportsOf(t)
	from := importerOf(fset, exports)
	var all []finding
	for _, p := range exports.packages {
		knows := slices.ContainsFunc(p.Deps, func(d string) bool { return d == module+"mpi" })
		if !knows || p.ImportPath == module+"mpi/semantics" || strings.HasPrefix(p.ImportPath, module+"mpi/gen") {
			continue
		}
		var files []*ast.File
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			require.NoError(t, err)
			files = append(files, file)
		}
		found, err := searchPackage(fset, p.ImportPath, files, from)
		if err != nil && len(p.CgoFiles) == 0 {
			require.NoError(t, err, p.ImportPath)
		}
		all = append(all, found...)
	}
	require.NotEmpty(t, all)
	return all
}

// searchPackage finds the uses in a package.
func searchPackage(fset *token.FileSet, path string, files []*ast.File, from types.Importer) ([]finding, error) {
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}}
	var failed error
	config := types.Config{Importer: from, FakeImportC: true, Error: func(err error) { failed = err }}
	_, _ = config.Check(path, fset, files, info)
	var found []finding
	for _, file := range files {
		var above []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				above = above[:len(above)-1]
				return true
			}
			if s, ok := n.(*ast.SelectorExpr); ok {
				if text := member(info.Selections[s]); texts[text] {
					at := fset.Position(s.Sel.Pos())
					name, err := filepath.Rel(repository.Root(), at.Filename)
					if err != nil {
						name = at.Filename
					}
					found = append(found, finding{name, text, at.Line, strings.HasSuffix(text, ".ParamIndex") && isText(above, s) || parses(info, above, s)})
				}
			}
			above = append(above, n)
			return true
		})
	}
	return found, failed
}

// member names a selected field or method with its type, also where that is embedded in the type of the operand.
func member(s *types.Selection) string {
	if s == nil {
		return ""
	}
	t := s.Recv()
	path := s.Index()
	for _, i := range path[:len(path)-1] {
		t = structOf(t).Field(i).Type()
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return named.Obj().Pkg().Path() + "." + named.Obj().Name() + "." + s.Obj().Name()
}

func structOf(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.Underlying().(*types.Struct)
}

// isText reports whether a method is called with a text that the program has.
func isText(above []ast.Node, method ast.Expr) bool {
	call, ok := above[len(above)-1].(*ast.CallExpr)
	if !ok || call.Fun != method {
		return false
	}
	_, literal := call.Args[0].(*ast.BasicLit)
	return literal
}

// parses reports whether an expression is compared, parsed, looked up, or passed to a function that
// does so.
func parses(info *types.Info, above []ast.Node, e ast.Expr) bool {
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *ast.ParenExpr:
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return isConstant(n.X) || isConstant(n.Y)
			}
		case *ast.SwitchStmt:
			return n.Tag == e
		case *ast.SliceExpr, *ast.RangeStmt:
			return true
		case *ast.IndexExpr:
			return n.X == e || hasConstant(n.X)
		case *ast.SelectorExpr: // a method of it
			return n.X == e && n.Sel.Name != "Group"
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok {
				if _, conversion := info.Uses[id].(*types.TypeName); !conversion {
					return false
				}
				break // string(…)
			}
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return false
			}
			of, ok := f.X.(*ast.Ident)
			if !ok {
				return false
			}
			library, ok := info.Uses[of].(*types.PkgName)
			if !ok || !slices.Contains([]string{"strings", "bytes", "regexp", "slices", "maps"}, library.Imported().Path()) {
				return false
			}
			return len(n.Args) == 1 || slices.ContainsFunc(n.Args, hasConstant) // strings.Fields(class), or a comparison
		default:
			return false
		}
		e, _ = above[i].(ast.Expr)
	}
	return false
}

func isConstant(e ast.Expr) bool {
	_, ok := e.(*ast.BasicLit)
	return ok
}

// hasConstant reports whether an expression contains a text.
func hasConstant(e ast.Expr) bool {
	has := false
	ast.Inspect(e, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			has = true
		}
		return true
	})
	return has
}

// listed is the output of `go list` for a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles, Deps []string
}

type exports struct {
	packages []listed // of this module
	files    map[string]string
}

// exportsOf lists the module's packages, and the compiled form of all that they import.
func exportsOf(t *testing.T) exports {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,Deps", "./...")
	list.Dir = repository.Root()
	list.Stderr = os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	all := exports{files: map[string]string{}}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		require.NoError(t, d.Decode(&p))
		all.files[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) {
			all.packages = append(all.packages, p)
		}
	}
	return all
}

func importerOf(fset *token.FileSet, all exports) types.Importer {
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all.files[path]) })
}
