// Package pass computes intermediate results that several analyses of a run share.
//
// A Run holds a trace and the results of passes. A result is computed when it is first asked for
// and kept until the run is closed. The concept is that of Requires and ResultOf in
// golang.org/x/tools/go/analysis, with typed results.
//
// A pass is a variable of the package that computes it:
//
//	var Communication = pass.New("communication", find, clock.Pass)
//
//	func find(ctx context.Context, r *pass.Run) (*Matrix, error) {
//		m := clock.Pass.Result(r)
//		…
//	}
//
// Invariants:
//   - A pass asks only for results of passes that it names as required, or as optional and that are
//     wanted anyway. Otherwise Of panics. So everything that a run needs is known before it begins
//     (Run.Wants).
//   - A pass is computed at most once per run, even if several goroutines ask for it at the same
//     time. An error is kept like a result.
//   - A panic in a pass becomes a Bug. It affects only the passes that need it.
package pass
