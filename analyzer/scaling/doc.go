// Package scaling reports how the calls and computations of a program grow with the number of
// ranks, and which of them will hurt first.
//
// The input is runs of one program with several numbers of ranks, possibly with repeats. The output
// is Findings. For each MPI call and each computation between two calls they have the time of a
// rank, calls and bytes at each size, models of these, predictions for other sizes, and the
// predicted share of the run.
//
// # Models
//
// The models are Extra-P's performance model normal form (Calotoiu, Hoefler, Poke and Wolf, "Using
// automated performance modeling to find scalability bugs in complex codes", SC 2013, §2.2):
//
//	f(p) = c0 + Σ ck · p^ik · log2(p)^jk
//
// with one term, or two from seven sizes on, and exponents from a short list (terms.go). It
// includes negative exponents, so that strong scaling has models, too. A hypothesis is fitted by
// least squares of relative errors, since the noise of times grows with them. Its error is that of
// leave-one-out cross-validation (Calotoiu et al., "Fast multi-parameter performance modeling",
// CLUSTER 2016, §III): each size is predicted from the others, and the mean of the symmetric
// relative errors is given in per cent.
//
// The hypothesis with the smallest error would often be wrong: of a hundred, one always fits noise.
// So
//
//   - a constant is kept unless a term lowers the residual by more than chance does (an F-test,
//     select.go);
//   - of the hypotheses that fit about as well as the best one, the one with the simplest exponents
//     is used;
//   - a growing term has a positive coefficient, and no model is negative in the requested range,
//     as times are not.
//
// The interval of a prediction covers all hypotheses that the data do not refute (interval.go):
// five sizes can rarely distinguish p^(2/3) from p^(1/2)·log2(p), which differ a lot for much
// larger p.
//
// # Requirements
//
// Times have models from five sizes on, as with Extra-P. Calls and bytes are exact: a form with k
// coefficients is used if it matches k+1 sizes or more exactly (two sizes for a constant, three for
// one term with a constant, five for two terms with a constant). Otherwise they are fitted like
// times.
//
// # Matching
//
// Calls of different runs are the same if they have the same MPI function and call site: module,
// file, line, or, if builds differ and have no lines, the function that contains it (names.go). If
// any run has only sums of times (aggregated timing), computations are identified only by the call
// after them, in all runs.
package scaling
