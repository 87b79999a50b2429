// Package clock lays the clocks of a run's nodes over one another.
//
// In goes a trace; out come timeline.Clocks, which make the times of all ranks comparable, and Findings that say how
// far they can be trusted. Ranks with the same boot id share CLOCK_MONOTONIC and need nothing. No message is sent for
// it: the application's own say enough.
//
//   - The wall clock, of which every rank takes samples together with the monotonic clock, is the first guess (guess.go).
//   - Messages bound it: no receive ends before its send began, and nobody leaves a barrier before all have entered. For
//     nodes a and b with unknown corrections x, every such pair says x_a − x_b ≤ exit_b − enter_a at that time
//     (bounds.go keeps the tightest of each part of the run).
//     Where times are rounded, a bound is wider by what that may have moved both moments (match.Stamp).
//   - If one correction per node cannot satisfy all bounds, the clocks drift: rates follow from the line that keeps most
//     distance from the bounds of both directions (line.go; Duda, Harrus, Haddad and Bernard, "Estimating global time in
//     distributed systems", ICDCS 1987; for traces Hofmann and Hilgers, PDP 1998).
//   - Corrections that satisfy all bounds and are as close to the guess as these allow are a solution of difference
//     constraints (solve.go; Cormen et al., §22.4).
//   - What is left, clocks that do not drift evenly, is moved forward by a controlled logical clock, one per node
//     (logical.go; Becker, Rabenseifner, Wolf and Linford, Parallel Computing 35, 2009), so that effects come after
//     their causes. Backward amortization is left out: a step always falls into the receive whose end was too early, so
//     it lengthens a wait and no computation. What was moved is reported, and so is what could not be mended.
package clock
