// Package grammar has context-free grammars that each generate one sequence, and builds them online.
//
// In go terminals, numbers from 0 on: what they stand for is no matter of this package. Out come rules (Grammar), which can
// be walked (Walk), measured (Lengths), counted (Counts, CountsOf), cut (Between) and searched (Seek, Finder), all without
// expanding them. Sequitur makes a grammar of a sequence as it comes; Resume goes on with one that was written down.
//
// Invariants of a valid Grammar (Validate):
//
//   - a rule refers to rules with greater indices only, so no rule contains itself;
//   - every symbol has an exponent of at least 1, and no rule that a symbol names is empty;
//   - no rule expands to 2^63 terminals or more.
//
// Those of Sequitur are in its own comment. It is the hot path of the recorder: Append is called for every MPI call that is
// not the expected continuation of a loop.
//
// The method is Sequitur (Nevill-Manning and Witten, JAIR 7, 1997) with run-length exponents (Dorier et al., TPDS 27, 2015),
// as in Pilgrim (Wang, Balaji, Snir, SC '21, §2.2). The package imports nothing of this module: how grammars are written is
// in trace/codec.
package grammar
