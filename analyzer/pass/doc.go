// Package pass computes what several analyses of a run need, once.
//
// In goes a trace (Run); out come results of passes, each computed when it is first asked for and kept until the run is
// closed. It is the part of golang.org/x/tools/go/analysis that is called Requires and ResultOf, with results that have
// types.
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
//   - A pass asks for results of those passes only that it names as required, or as optional and that are wanted anyway:
//     what a run will need is known before it begins (Run.Wants). Of panics otherwise.
//   - A pass is computed at most once in a run, whoever asks, also at the same time. An error is kept like a result.
//   - A mistake in a pass (a panic) costs those that need it, not the others: it becomes a Bug.
package pass
