// Package callsite formats source locations, consistently in all findings.
//
// Its input is a call site of a trace, its output a readable location: file and line, otherwise the
// function, otherwise the offset in the module.
package callsite

import (
	"fmt"
	"path"

	"github.com/cairn-mpi/cairn/trace"
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

// At returns a call and its call site in words.
func At(function, site string) string {
	if site == "" {
		return function
	}
	return function + " at " + site
}
