// Package scaling says how the calls and computations of a program grow with the number of ranks, and which of them will
// hurt first.
//
// In go runs of one program at several numbers of ranks, of which some may be repeats; out come Findings: for each MPI call
// and each computation between two calls the time of a rank, calls and bytes at each size, the models of them, what they
// predict for other sizes, and the share of the run then.
//
// # Models
//
// The models are Extra-P's performance model normal form (Calotoiu, Hoefler, Poke and Wolf, "Using automated performance
// modeling to find scalability bugs in complex codes", SC 2013, §2.2):
//
//	f(p) = c0 + Σ ck · p^ik · log2(p)^jk
//
// with one term, or two from seven sizes on, and exponents from a short list (terms.go). Negative exponents are among them,
// so that strong scaling has models, too. A hypothesis is fitted by least squares of relative errors, since the noise of
// times grows with them; its error is that of leave-one-out cross-validation (Calotoiu et al., "Fast multi-parameter
// performance modeling", CLUSTER 2016, §III): each size is predicted from the others, and the mean of the symmetric relative
// errors is given in per cent.
//
// The hypothesis with the least error would often be wrong: of a hundred one always fits noise. So
//
//   - a constant is kept unless a term lowers the residual by more than chance does (an F-test, select.go);
//   - of the hypotheses that fit about as well as the best one, that with the simplest exponents is taken;
//   - a term that grows has a positive coefficient, and no model is below zero where it is asked for: times are not.
//
// Not one hypothesis makes a prediction's interval but all that the data do not refute (interval.go): five sizes seldom tell
// p^(2/3) from p^(1/2)·log2(p), and far beyond them these are different answers.
//
// # What there has to be
//
// Times have models from five sizes on, as with Extra-P. Calls and bytes are exact: a form with k coefficients that meets
// k+1 sizes or more to the last digit is taken (two sizes for a constant, three for one term with a constant, five for two
// terms with a constant). Others are fitted as times are.
//
// # Matching
//
// Calls of different runs are the same if their function of MPI and their call site are: module, file, line, or, where
// builds differ and have no lines, the function that they are in (names.go). With sums of times only (timing aggregated) a
// computation is known by the call after it; then that is so for all runs.
package scaling
