// Package callsite words places in a program, the same in all findings.
//
// In goes a call site of a trace, out comes what a person looks for: file and line, else the function, else the place
// in the module.
package callsite

import (
	"fmt"
	"path"

	"github.com/cairn-mpi/cairn/trace"
)

// Name words a call site so that no other one of the program has this name. Where there are no lines (a program that was
// built without -g), that takes its place in the module.
func Name(s *trace.Site) string {
	if s.Function != "" && (s.File == "" || s.Line <= 0) {
		return fmt.Sprintf("%s in %s+%#x", s.Function, s.Module, s.Offset)
	}
	return InFunction(s)
}

// InFunction is Name for comparing builds: where there are no lines it is the function only, which stays when code
// before it changes.
func InFunction(s *trace.Site) string {
	switch {
	case s.File != "" && s.Line > 0:
		return fmt.Sprintf("%s:%d", path.Base(s.File), s.Line)
	case s.Function != "":
		return fmt.Sprintf("%s in %s", s.Function, s.Module)
	}
	return fmt.Sprintf("%s+%#x", s.Module, s.Offset)
}

// At words a call and its place.
func At(function, site string) string {
	if site == "" {
		return function
	}
	return function + " at " + site
}
