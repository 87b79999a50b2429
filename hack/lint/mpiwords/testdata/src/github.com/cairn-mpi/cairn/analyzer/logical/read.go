// Package logical is on the list: it may use texts, but not parse them.
package logical

import "github.com/cairn-mpi/cairn/trace"

func prints(p *trace.Parameter) string { return p.Name }

func parses(p *trace.Parameter) bool { return p.Name == "dest" } // want `^trace.Parameter.Name is compared`
