// Package criticalpath runs all analyses around the critical path of a trace, for programs that want their findings together.
//
// In goes a trace; out come Findings: those of the analyses in analyzer/analyses, each under its own keys. What they share is
// computed once, in this order: package matching goes through all calls, route walks the critical path backward over the wait
// states, accounts lays it over calls and computation, causes replays the run under other conditions; delays runs beside them.
package criticalpath
