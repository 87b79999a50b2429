// Package mpiwords checks that the words of the table of MPI's functions have a single reader: no
// package but mpi/semantics parses a class, or looks up a parameter by its name.
package mpiwords

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
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

// allowed has the files that may use the texts, and the purpose. None may parse them.
var allowed = map[string]string{
	"trace/sections.go":                  "reads and writes them",
	"trace/signature.go":                 "gives them to this package",
	"trace/event.go":                     "prints names",
	"tracer/recorder/key/signature.go":   "writes them",
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

// Analyzer reports code that uses or parses the texts and may not.
var Analyzer = &analysis.Analyzer{
	Name:     "mpiwords",
	Doc:      "report readers of MPI functions' words other than mpi/semantics",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	folder, ours := strings.CutPrefix(pass.Pkg.Path(), module)
	if !ours || folder == "mpi" || folder == "mpi/semantics" || strings.HasPrefix(folder, "mpi/gen") {
		return nil, nil
	}
	used := map[string]bool{}
	selectors := []ast.Node{(*ast.SelectorExpr)(nil)}
	pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).WithStack(selectors, func(n ast.Node, push bool, stack []ast.Node) bool {
		s := n.(*ast.SelectorExpr)
		text, above := member(pass.TypesInfo.Selections[s]), stack[:len(stack)-1]
		file := filepath.Base(pass.Fset.Position(s.Pos()).Filename)
		if !push || !texts[text] || strings.HasSuffix(file, "_test.go") {
			return true
		}
		text = strings.TrimPrefix(text, module)
		if parses(pass.TypesInfo, above, s) || strings.HasSuffix(text, ".ParamIndex") && isText(above, s) {
			pass.Reportf(s.Sel.Pos(), "%s is compared with words or parsed: say it in mpi/semantics and use that", text)
		}
		switch one, all := path.Join(folder, file), folder+"/*"; {
		case allowed[one] != "":
			used[one] = true
		case allowed[all] != "":
			used[all] = true
		default:
			pass.Reportf(s.Sel.Pos(), "%s is used: say it in mpi/semantics and use that, or list %s in hack/lint/mpiwords", text, one)
		}
		return true
	})
	for file := range allowed {
		if path.Dir(file) == folder && !used[file] {
			pass.Reportf(pass.Files[0].Package, "%s does not use words of MPI functions: remove it from the list in hack/lint/mpiwords", file)
		}
	}
	return nil, nil
}

// member names a selected field or method with its type, also where that is embedded in the
// type of the operand.
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
			// strings.Fields(class), or a comparison
			return len(n.Args) == 1 || slices.ContainsFunc(n.Args, hasConstant)
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
