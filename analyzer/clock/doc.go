// Package clock synchronizes the clocks of a run's nodes.
//
// Its input is a trace. Its results are timeline.Clocks, which make the times of all ranks
// comparable, and Findings with their accuracy. Ranks with the same boot id share CLOCK_MONOTONIC
// and need no synchronization. No extra messages are sent: the application's messages are
// sufficient.
//
//   - The first guess is the wall clock, which every rank samples together with the monotonic clock
//     (guess.go).
//   - Messages bound the corrections: no receive ends before its send began, and no rank leaves a
//     barrier before all have entered. For nodes a and b with unknown corrections x, every such
//     pair implies x_a − x_b ≤ exit_b − enter_a at that time (bounds.go keeps the tightest bound of
//     each part of the run). If times are rounded, a bound is wider by the errors of both
//     (match.Stamp).
//   - If one correction per node cannot satisfy all bounds, the clocks drift. The rates are those
//     of the line with the largest distance from the bounds of both directions (line.go; Duda,
//     Harrus, Haddad and Bernard, "Estimating global time in distributed systems", ICDCS 1987; for
//     traces Hofmann and Hilgers, PDP 1998).
//   - Corrections that satisfy all bounds and are as close to the guess as possible are the
//     solution of a system of difference constraints (solve.go; Cormen et al., §22.4).
//   - Remaining violations are due to clocks that drift unevenly. A controlled logical clock per
//     node moves times forward (logical.go; Becker, Rabenseifner, Wolf and Linford, Parallel
//     Computing 35, 2009), so that effects come after their causes. There is no backward
//     amortization: a step always falls into the receive that ended too early, so it lengthens a
//     wait, never a computation. Steps are reported, and so are violations that remain.
package clock
