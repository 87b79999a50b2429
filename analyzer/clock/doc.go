// Package clock lays the clocks of a run's nodes over one another.
//
// In goes a trace; out come offsets that make the times of all ranks comparable, and Findings that say how far they
// can be trusted. Ranks with the same boot id share CLOCK_MONOTONIC and need nothing. Between nodes, the wall clock
// (samples that every rank takes together with the monotonic clock) is the first guess. Messages bound it: no receive
// ends before its send began, and nobody leaves a barrier before all have entered. For nodes a and b with unknown
// offsets o, every such pair says o_a − o_b ≤ exit_b − enter_a; offsets that satisfy all of these and are as close to
// the guess as these allow are the solution of difference constraints (Cormen et al., §22.4; for traces: Hofmann and
// Hilgers, "Theory and tool for estimating global time in parallel and distributed systems", PDP 1998). What cannot
// be satisfied (clocks that drift) is reported, not hidden.
package clock
