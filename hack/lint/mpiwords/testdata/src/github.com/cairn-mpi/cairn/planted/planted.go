// Package planted parses what only mpi/semantics may.
package planted

import (
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

type embedded struct{ *trace.Parameter }

func parses(f *trace.Function, p *trace.Parameter, s *mpi.Function, e embedded) []any {
	switch f.Class { // want `trace.Function.Class is compared` `is used`
	case "init":
	}
	switch {
	case p.Name == "root": // want `trace.Parameter.Name is compared` `is used`
	}
	return []any{
		f.Class == "init",                               // want `is compared` `is used`
		"dest" != p.Name,                                // want `is compared` `is used`
		e.Name == "dest",                                // want `trace.Parameter.Name is compared` `is used`
		strings.Fields(f.Class),                         // want `is compared` `is used`
		slices.Contains([]string{"count"}, p.Name),      // want `is compared` `is used`
		map[string]int{"send": 1}[f.Class],              // want `is compared` `is used`
		s.Class.Op() == "send",                          // want `mpi.Function.Class is compared` `is used`
		s.Class.Has("nonblocking"),                      // want `is compared` `is used`
		strings.Contains(string(s.Class), "collective"), // want `is compared` `is used`
		f.Class[:4],                                     // want `is compared` `is used`
		s.ParamIndex("comm"),                            // want `mpi.Function.ParamIndex is compared` `is used`
		f.Parameters[0].Name+" "+f.Class > "",           // want `Name is compared` `Name is used` `Class is compared` `Class is used`
	}
}

func uses(p *trace.Parameter, s *mpi.Function) bool {
	name := p.Name // want `trace.Parameter.Name is used: .* or list planted/planted.go in hack/lint/mpiwords`
	if name == "dest" {
		return true
	}
	return func(s string) bool { return s == "dest" }(s.Params[0].Name) // want `^mpi.Param.Name is used`
}

func mayDo(f *mpi.Function, p *trace.Parameter) []any {
	return []any{f.Name == "MPI_Send", p.Kind, f.ID, "init"}
}
