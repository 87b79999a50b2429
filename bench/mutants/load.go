package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

const module = "github.com/cairn-mpi/cairn/"

// A tree is a checkout of the repository.
type tree struct {
	root     string
	packages map[string]*listed // by folder; also those of other modules, by import path
}

// listed is what go list prints.
type listed struct {
	Dir, ImportPath, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

func openTree(ctx context.Context, root string) (*tree, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	t := &tree{root, map[string]*listed{}}
	const fields = "Dir,ImportPath,Export,GoFiles,TestGoFiles,XTestGoFiles"
	arguments := []string{"list", "-e", "-export", "-deps", "-json=" + fields}
	for _, s := range subjects {
		for _, folder := range append(s.tests, s.folder) {
			if _, err := os.Stat(filepath.Join(root, folder)); err == nil {
				arguments = append(arguments, "./"+folder)
			}
		}
	}
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Dir, c.Stderr = root, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", root, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return t, nil
		} else if err != nil {
			return nil, fmt.Errorf("the output of go list: %w", err)
		}
		t.packages[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

// loaded is a package with types.
type loaded struct {
	folder string
	set    *token.FileSet
	files  []*source
	types  *types.Package
	info   *types.Info
	// imports are the packages that it imports.
	imports types.Importer
}

type source struct {
	name    string // relative to the tree
	content string
	syntax  *ast.File
}

// offset is the place of a position in the content.
func (s *source) offset(p token.Pos) int { return int(p - s.syntax.FileStart) }

func (s *source) text(from, to token.Pos) string { return s.content[s.offset(from):s.offset(to)] }

func (t *tree) load(folder string) (*loaded, error) {
	l := t.packages[folder]
	if l == nil {
		return nil, fmt.Errorf("%s has no package %s; see bench/mutants/packages.go", t.root, folder)
	}
	p := &loaded{folder: folder, set: token.NewFileSet()}
	p.imports = withSwitch{importer.ForCompiler(p.set, "gc", func(path string) (io.ReadCloser, error) {
		if l := t.packages[strings.TrimPrefix(path, module)]; l != nil && l.Export != "" {
			return os.Open(l.Export)
		}
		return nil, fmt.Errorf("package %s was not compiled", path)
	})}
	for _, name := range l.GoFiles {
		content, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return nil, err
		}
		s := &source{name: path.Join(folder, name), content: string(content)}
		const mode = parser.ParseComments | parser.SkipObjectResolution
		if s.syntax, err = parser.ParseFile(p.set, s.name, content, mode); err != nil {
			return nil, err
		}
		p.files = append(p.files, s)
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	var err error
	p.types, err = p.check(p.info, nil)
	return p, err
}

// check type-checks the package, with one file replaced.
func (p *loaded) check(info *types.Info, changed *source) (*types.Package, error) {
	var files []*ast.File
	for _, f := range p.files {
		if changed != nil && f.name == changed.name {
			f = changed
		}
		files = append(files, f.syntax)
	}
	return (&types.Config{Importer: p.imports}).Check(module+p.folder, p.set, files, info)
}

// withSwitch imports the switch of mutants, too, which is only in the overlay.
type withSwitch struct{ types.Importer }

func (i withSwitch) Import(path string) (*types.Package, error) {
	if path != switchPath {
		return i.Importer.Import(path)
	}
	p := types.NewPackage(switchPath, "mutants")
	number := types.NewTuple(types.NewVar(token.NoPos, p, "n", types.Typ[types.Int]))
	result := types.NewTuple(types.NewVar(token.NoPos, p, "", types.Typ[types.Bool]))
	on := types.NewSignatureType(nil, nil, nil, number, result, false)
	p.Scope().Insert(types.NewFunc(token.NoPos, p, "On", on))
	p.MarkComplete()
	return p, nil
}
