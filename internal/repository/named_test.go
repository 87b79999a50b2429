package repository

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test, with its package's folder or without.
var testName = regexp.MustCompile("`(?:([a-z0-9/]+)\\.)?((?:Test|Fuzz|Benchmark|Example)[A-Z][A-Za-z0-9_]*)`")

// A test that a document names as a proof exists in the named folder.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	type test struct{ folder, name string } // "" for any folder
	defined := map[test]bool{}
	var documents []string
	require.NoError(t, filepath.WalkDir(Root(), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "out" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			documents = append(documents, path)
		case strings.HasSuffix(path, "_test.go"):
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, declaration := range file.Decls {
				if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil {
					folder, err := filepath.Rel(Root(), filepath.Dir(path))
					if err != nil {
						return err
					}
					defined[test{folder, function.Name.Name}] = true
					defined[test{"", function.Name.Name}] = true
				}
			}
		}
		return nil
	}))
	named := 0
	for _, path := range documents {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, match := range testName.FindAllStringSubmatch(string(text), -1) {
			named++
			if !defined[test{match[1], match[2]}] {
				t.Errorf("%s names %s, which no _test.go defines", path, match[0])
			}
		}
	}
	require.Greater(t, named, 150) // the pattern still finds them
}
