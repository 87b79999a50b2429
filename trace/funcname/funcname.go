// Package funcname shortens names of functions.
//
// Its input is a name as the source has it, with the namespaces, classes and template arguments of
// C++; its output a name of at most Max characters for display, or one without template arguments,
// which is the same for all instances of a template. The full name is for files.
package funcname

import (
	"strings"
	"unicode/utf8"
)

// Max is the length, in characters, above which a name is shortened.
const Max = 64

const (
	ellipsis = "…"
	head     = 20 // characters that remain before the middle
)

// Short returns a name of at most Max characters. It first leaves out template arguments, the most
// nested ones first, then the middle.
func Short(name string) string {
	for depth := deepest(name); depth > 0 && utf8.RuneCountInString(name) > Max; depth-- {
		name = withoutArguments(name, depth)
	}
	if letters := []rune(name); len(letters) > Max {
		name = string(letters[:head]) + ellipsis + string(letters[len(letters)-(Max-head-1):])
	}
	return name
}

// Text returns the name without template arguments: all instances of a template are one text of the
// source. A name that is within brackets, as those of Rust's trait implementations, remains.
func Text(name string) string {
	var b strings.Builder
	from, open := 0, -1
	brackets(name, func(i, depth int, opens bool) {
		switch {
		case depth != 1:
		case opens:
			open = i
		case open > 0 && name[open-1] != ':':
			b.WriteString(name[from:open])
			from = i + 1
		}
	})
	return b.String() + name[from:]
}

// deepest returns how deeply template arguments are nested.
func deepest(name string) int {
	most := 0
	brackets(name, func(_, depth int, _ bool) { most = max(most, depth) })
	return most
}

// withoutArguments replaces the template arguments at a depth.
func withoutArguments(name string, at int) string {
	var b strings.Builder
	from := 0
	brackets(name, func(i, depth int, opens bool) {
		switch {
		case depth != at:
		case opens:
			b.WriteString(name[from : i+1])
			from = i + 1
		default:
			b.WriteString(ellipsis)
			from = i
		}
	})
	return b.String() + name[from:]
}

// operators are those of C++ whose names have brackets, longer ones before their beginnings.
var operators = []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}

// brackets calls f for each bracket of template arguments, with the depth of what it encloses.
// Those of operators and unbalanced ones are none.
func brackets(name string, f func(i, depth int, opens bool)) {
	var open []int
	depth := make([]int, len(name))
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case 'o':
			if rest, ok := strings.CutPrefix(name[i:], "operator"); ok {
				i += len("operator") - 1
				for _, o := range operators {
					if strings.HasPrefix(rest, o) {
						i += len(o)
						break
					}
				}
			}
		case '<':
			open = append(open, i)
		case '>':
			if n := len(open); n > 0 && name[i-1] != '-' {
				depth[open[n-1]], depth[i] = n, n
				open = open[:n-1]
			}
		}
	}
	for i, d := range depth {
		if d > 0 {
			f(i, d, name[i] == '<')
		}
	}
}
