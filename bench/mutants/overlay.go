package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An overlay is what go build reads instead of files of the tree.
type overlay struct {
	folder  string
	Replace map[string]string
}

func (o *overlay) add(file, content string) error {
	copied := filepath.Join(o.folder, fmt.Sprintf("%d.go", len(o.Replace)))
	o.Replace[file] = copied
	return os.WriteFile(copied, []byte(content), 0o666)
}

// writeOverlay writes a tree's changed files and returns the file for go build -overlay, and which
// mutants the tree has.
func writeOverlay(t *tree, folder string, list []mutant) (string, map[int]bool, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", nil, err
	}
	o := &overlay{folder, map[string]string{}}
	found := map[int]bool{}
	if err := o.add(filepath.Join(t.root, "internal/mutants/mutants.go"), switchCode); err != nil {
		return "", nil, err
	}
	for _, s := range subjects {
		if err := o.addMutants(t, s.folder, list, found); err != nil {
			return "", nil, err
		}
		for _, tests := range s.tests {
			if err := o.addTests(t, tests); err != nil {
				return "", nil, err
			}
		}
	}
	file := filepath.Join(folder, "overlay.json")
	b, err := json.Marshal(o)
	if err != nil {
		return "", nil, err
	}
	return file, found, os.WriteFile(file, b, 0o666)
}

func (o *overlay) addMutants(t *tree, folder string, list []mutant, found map[int]bool) error {
	p, err := t.load(folder)
	if err != nil {
		return err
	}
	byFile := map[*source][]site{}
	for _, s := range findSites(p) {
		i := slices.IndexFunc(list, func(m mutant) bool { return m.key() == s.key() })
		if i < 0 {
			continue
		}
		if s.Number = list[i].Number; compiles(p, s) {
			byFile[s.file] = append(byFile[s.file], s)
			found[s.Number] = true
		}
	}
	for file, sites := range byFile {
		if err := o.add(filepath.Join(t.root, file.name), file.mutated(sites)); err != nil {
			return err
		}
	}
	return nil
}

// key is the mutant without its number and its place.
func (m mutant) key() mutant {
	m.Number, m.Place = 0, ""
	return m
}

// addTests makes tests report which of them runs.
func (o *overlay) addTests(t *tree, folder string) error {
	p := t.packages[folder]
	if p == nil {
		return nil // the tree does not have these tests
	}
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		file := filepath.Join(p.Dir, name)
		if o.Replace[file] != "" {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		reporting, err := withReports(name, string(content))
		if err != nil {
			return err
		}
		if err := o.add(file, reporting); err != nil {
			return err
		}
	}
	return nil
}

// withReports adds reports to the source of tests, at the start of each and where one that has let
// others run goes on.
func withReports(name, content string) (string, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, content, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	reports := map[token.Pos]string{}
	for _, d := range syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && isTest(d) {
			reports[d.Body.Lbrace+1] = d.Type.Params.List[0].Names[0].Name
		}
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.ExprStmt); ok {
			if t, ok := strings.CutSuffix(types.ExprString(s.X), ".Parallel()"); ok {
				reports[s.End()] = t
			}
		}
		return true
	})
	if len(reports) == 0 {
		return content, nil
	}
	var out strings.Builder
	from := 0
	reports[syntax.Name.End()] = ""
	places := make([]token.Pos, 0, len(reports))
	for at := range reports {
		places = append(places, at)
	}
	slices.Sort(places)
	for _, at := range places {
		to := int(at - syntax.FileStart)
		out.WriteString(content[from:to])
		from = to
		switch t := reports[at]; {
		case at == syntax.Name.End():
			out.WriteString(switchImport)
		default:
			fmt.Fprintf(&out, "; cairnmutants.Test(%s.Name());", t)
		}
	}
	return out.String() + content[from:], nil
}

// isTest reports whether a function is a test or a fuzz target and uses its argument.
func isTest(d *ast.FuncDecl) bool {
	name, p := d.Name.Name, d.Type.Params.List
	return d.Recv == nil && name != "TestMain" && len(p) == 1 &&
		(strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")) &&
		len(p[0].Names) == 1 && p[0].Names[0].Name != "_"
}
