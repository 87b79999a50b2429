// Package criticalpath runs all analyses around the critical path of a trace, for programs that
// need their findings together.
//
// Its input is a trace. Its Findings are those of the analyses in analyzer/analyses, each under its
// own keys. Shared results are computed once, in this order: package matching processes all calls,
// route finds the critical path backward over the wait states, accounts intersects it with calls
// and computation, causes replays the run under other conditions. Package delays runs concurrently.
package criticalpath
