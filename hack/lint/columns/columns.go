// Package columns reports comments that are too wide to be read beside other text.
package columns

import (
	"go/ast"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/analysis"
)

const (
	maxColumns = 100
	tab        = "    "
)

// Analyzer reports lines with nothing but a comment that are too long and could be broken.
var Analyzer = &analysis.Analyzer{
	Name: "columns",
	Doc:  "report comment lines of more than 100 columns",
	Run:  run,
}

// Directives and markers for generators are one line, however long.
var directive = regexp.MustCompile(`^\s*//(\s*\+|[a-z0-9]+:\S)`)

// What an example prints is compared line by line.
var output = regexp.MustCompile(`(?i)^//\s*(unordered )?output:`)

func run(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		if ast.IsGenerated(file) {
			continue
		}
		source, err := pass.ReadFile(pass.Fset.File(file.FileStart).Name())
		if err != nil {
			return nil, err
		}
		check(pass, file, strings.Split(string(source), "\n"))
	}
	return nil, nil
}

func check(pass *analysis.Pass, file *ast.File, lines []string) {
	f := pass.Fset.File(file.FileStart)
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if output.MatchString(comment.Text) {
				break
			}
			first, last := f.Line(comment.Pos()), f.Line(comment.End())
			if !strings.HasPrefix(strings.TrimSpace(lines[first-1]), comment.Text[:2]) {
				first++ // it follows code
			}
			for n := first; n <= last; n++ {
				if width := utf8.RuneCountInString(strings.ReplaceAll(lines[n-1], "\t", tab)); width > maxColumns && breakable(lines[n-1]) {
					pass.Reportf(f.LineStart(n), "this comment line has %d columns: break it at %d", width, maxColumns)
				}
			}
		}
	}
}

// breakable reports whether a line has a space where it can be broken: unlike a long address.
func breakable(line string) bool {
	return !directive.MatchString(line) && len(strings.Fields(line)) > 2
}
