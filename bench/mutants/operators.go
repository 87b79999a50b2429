package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// A site is a piece of source code and its mutant.
type site struct {
	mutant
	file *source
	from token.Pos // the mutant replaces this piece; an insertion's is empty
	to   token.Pos
	// replace returns the code of both: the original, and what happens if the condition on holds.
	replace replacement
}

// rendering returns a piece of the source code with the mutants in it.
type rendering func(from, to token.Pos) string

type replacement func(on, original string, text rendering) string

// finder collects all sites of a package.
type finder struct {
	pkg      *loaded
	file     *source
	function string
	parents  []ast.Node
	seen     map[string]int
	sites    []site
}

func findSites(p *loaded) []site {
	f := &finder{pkg: p, seen: map[string]int{}}
	for _, file := range p.files {
		if ast.IsGenerated(file.syntax) {
			continue
		}
		f.file = file
		for _, d := range file.syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && len(d.Body.List) > 0 {
				f.function = functionName(d)
				f.earlyReturn(d)
				ast.Inspect(d.Body, f.visit)
			}
		}
	}
	return f.sites
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	return "(" + types.ExprString(d.Recv.List[0].Type) + ")." + d.Name.Name
}

func (f *finder) visit(n ast.Node) bool {
	if n == nil {
		f.parents = f.parents[:len(f.parents)-1]
		return true
	}
	switch n := n.(type) {
	case *ast.GenDecl, *ast.ArrayType:
		if d, ok := n.(*ast.GenDecl); !ok || d.Tok == token.CONST {
			return false // constants
		}
	case *ast.IfStmt:
		f.flip("negate", n.Cond)
	case *ast.Ident:
		if f.constant(n) && (n.Name == "true" || n.Name == "false") {
			f.flip("boolean", n)
		}
	case *ast.ForStmt:
		if n.Post != nil {
			f.skipBody(n.Pos(), n.Body)
		}
	case *ast.RangeStmt:
		f.skipBody(n.Pos(), n.Body)
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.CallExpr:
		f.extreme(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	}
	if e, ok := n.(ast.Expr); ok {
		f.number(e)
	}
	f.parents = append(f.parents, n)
	return true
}

// add adds the mutant of a piece; named is the code by which it is known.
func (f *finder) add(operator string, from, to token.Pos, named string, replace replacement) {
	named = strings.Join(strings.Fields(named), " ")
	key := f.function + "\n" + operator + "\n" + named
	m := mutant{
		Package: f.pkg.folder, Function: f.function, Operator: operator, Source: named,
		Occurrence: f.seen[key],
		Place:      fmt.Sprintf("%s:%d", f.file.name, f.pkg.set.Position(from).Line),
	}
	f.seen[key]++
	f.sites = append(f.sites, site{m, f.file, from, to, replace})
}

func (f *finder) code(n ast.Node) string { return f.file.text(n.Pos(), n.End()) }

// flip makes a condition its contrary.
func (f *finder) flip(operator string, e ast.Expr) {
	f.add(operator, e.Pos(), e.End(), f.code(e), func(on, original string, _ rendering) string {
		return fmt.Sprintf("(%s != (%s))", on, original)
	})
}

// otherwise are operators and what a mutant has instead.
var otherwise = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.REM: token.MUL, token.AND: token.OR, token.OR: token.AND,
	token.SHL: token.SHR, token.SHR: token.SHL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.OR_ASSIGN: token.AND_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
}

func (f *finder) binary(e *ast.BinaryExpr) {
	other, ok := otherwise[e.Op]
	if !ok || f.constant(e) {
		return
	}
	mutated := func(text rendering) string {
		return fmt.Sprintf("(%s) %s (%s)", text(e.X.Pos(), e.X.End()), other, text(e.Y.Pos(), e.Y.End()))
	}
	switch e.Op {
	case token.EQL, token.NEQ:
		if s, ok := f.parent().(*ast.IfStmt); ok && s.Cond == e {
			return // the same as negate
		}
		f.flip("equality", e)
	case token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR:
		operator := "boundary"
		if e.Op == token.LAND || e.Op == token.LOR {
			operator = "logic"
		}
		f.add(operator, e.Pos(), e.End(), f.code(e), func(on, original string, text rendering) string {
			return fmt.Sprintf("(%s && (%s) || !%s && (%s))", on, mutated(text), on, original)
		})
	default:
		f.value("arithmetic", e, types.IsNumeric, mutated)
	}
}

// value replaces an expression if it has a type of some kind.
func (f *finder) value(operator string, e ast.Expr, kind types.BasicInfo,
	mutated func(text rendering) string) {
	t := f.pkg.info.Types[e].Type
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Info()&kind == 0 || basic.Info()&types.IsUntyped != 0 {
		return
	}
	name := types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg.types {
			return ""
		}
		return p.Name()
	})
	f.add(operator, e.Pos(), e.End(), f.code(e), func(on, original string, text rendering) string {
		return fmt.Sprintf("func() %s { if %s { return %s }; return %s }()",
			name, on, mutated(text), original)
	})
}

// number changes the largest constant integer around a literal by one.
func (f *finder) number(e ast.Expr) {
	if !f.constant(e) || f.insideConstant() || !hasLiteral(e) {
		return
	}
	switch p := f.parent().(type) {
	case *ast.CaseClause:
		return
	case *ast.KeyValueExpr:
		if p.Key == e {
			return
		}
	}
	for _, by := range []string{"+ 1", "- 1"} {
		f.value("constant "+by, e, types.IsInteger, func(text rendering) string {
			return text(e.Pos(), e.End()) + by
		})
	}
}

// extreme makes min of max and max of min.
func (f *finder) extreme(e *ast.CallExpr) {
	name, ok := e.Fun.(*ast.Ident)
	other := map[string]string{"min": "max", "max": "min"}
	if !ok || other[name.Name] == "" || f.constant(e) {
		return
	}
	f.value("extreme", e, types.IsNumeric, func(text rendering) string {
		return other[name.Name] + text(e.Fun.End(), e.End())
	})
}

// statements leaves out statements, turns around assignments and hides errors.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			// without panic, a function may need another end
			if call, ok := s.X.(*ast.CallExpr); ok && types.ExprString(call.Fun) != "panic" {
				f.leaveOut(s)
			}
		case *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt:
			f.leaveOut(s)
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				f.leaveOut(s)
			}
			f.turnAround(s)
		case *ast.ReturnStmt:
			f.hideError(s)
		}
	}
}

func (f *finder) leaveOut(s ast.Stmt) {
	f.add("omit", s.Pos(), s.End(), f.code(s), func(on, original string, _ rendering) string {
		return fmt.Sprintf("if !%s { %s }", on, original)
	})
}

func (f *finder) turnAround(s *ast.AssignStmt) {
	other, ok := otherwise[s.Tok]
	if !ok {
		return
	}
	t, ok := f.pkg.info.Types[s.Lhs[0]].Type.Underlying().(*types.Basic)
	if !ok || t.Info()&types.IsNumeric == 0 {
		return
	}
	f.add("arithmetic", s.Pos(), s.End(), f.code(s), func(on, original string, text rendering) string {
		return fmt.Sprintf("if %s { %s %s %s } else { %s }", on,
			text(s.Lhs[0].Pos(), s.Lhs[0].End()), other, text(s.Rhs[0].Pos(), s.Rhs[0].End()), original)
	})
}

func (f *finder) hideError(s *ast.ReturnStmt) {
	if len(s.Results) == 0 {
		return
	}
	last := s.Results[len(s.Results)-1]
	if t := f.pkg.info.Types[last].Type; t == nil || t.String() != "error" {
		return
	}
	f.add("hide", s.Pos(), s.End(), f.code(s), func(on, original string, text rendering) string {
		return fmt.Sprintf("if %s { %snil }; %s", on, text(s.Pos(), last.Pos()), original)
	})
}

func (f *finder) skipBody(start token.Pos, body *ast.BlockStmt) {
	f.add("skip", body.Lbrace+1, body.Lbrace+1, f.file.text(start, body.Lbrace),
		func(on, original string, _ rendering) string {
			return fmt.Sprintf("%s if %s { continue };", original, on)
		})
}

// earlyReturn makes a function return zero values at once.
func (f *finder) earlyReturn(d *ast.FuncDecl) {
	var values []string
	if d.Type.Results != nil {
		for _, r := range d.Type.Results.List {
			for range max(1, len(r.Names)) {
				values = append(values, "*new("+f.code(r.Type)+")")
			}
		}
	}
	at := d.Body.Lbrace + 1
	f.add("return", at, at, "", func(on, original string, _ rendering) string {
		return fmt.Sprintf("%s if %s { return %s };", original, on, strings.Join(values, ", "))
	})
}

func (f *finder) parent() ast.Node {
	if len(f.parents) == 0 {
		return nil
	}
	return f.parents[len(f.parents)-1]
}

func (f *finder) constant(e ast.Expr) bool { return f.pkg.info.Types[e].Value != nil }

func (f *finder) insideConstant() bool {
	e, ok := f.parent().(ast.Expr)
	return ok && f.constant(e)
}

func hasLiteral(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.INT {
			_, err := strconv.ParseInt(l.Value, 0, 64)
			found = found || err == nil
		}
		return true
	})
	return found
}
