// Package callsite is where a call site becomes text, the same in all findings, tables and exports.
//
// Its input is a call site of a trace, its output a readable location: file and line, otherwise the
// function, otherwise the offset in the module. Findings and files have it in full; Short and At
// are for people.
package callsite

import (
	"fmt"
	"path"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/funcname"
)

// Name returns a name of a call site that is unique in the program. Without line numbers (a program
// that was built without -g) it contains the offset in the module.
func Name(s *trace.Site) string {
	if s.Function != "" && (s.File == "" || s.Line <= 0) {
		return fmt.Sprintf("%s in %s+%#x", s.Function, s.Module, s.Offset)
	}
	return InFunction(s)
}

// InFunction is Name for comparing builds: without line numbers it is the function only, which does
// not change with the code before it.
func InFunction(s *trace.Site) string {
	switch {
	case s.File != "" && s.Line > 0:
		return fmt.Sprintf("%s:%d", path.Base(s.File), s.Line)
	case s.Function != "":
		return fmt.Sprintf("%s in %s", s.Function, s.Module)
	}
	return fmt.Sprintf("%s+%#x", s.Module, s.Offset)
}

// IsBetween reports whether a text is about the computation between two calls instead of a call
// site.
func IsBetween(site string) bool {
	return strings.HasPrefix(site, "between ") || strings.HasPrefix(site, "before ") || strings.HasPrefix(site, "after ")
}

// Short returns the name of a call site with the name of its function shortened. Of the computation
// between two calls, it is unchanged: their names are short already.
func Short(site string) string {
	if IsBetween(site) {
		return site
	}
	if i := strings.LastIndex(site, " in "); i >= 0 {
		return funcname.Short(site[:i]) + site[i:]
	}
	return funcname.Short(site)
}

// At returns a call and its call site in words, shortened.
func At(function, site string) string {
	if site == "" {
		return function
	}
	return function + " at " + Short(site)
}
