// Package grammar has context-free grammars that each generate one sequence, and builds them
// online.
//
// The input is a sequence of terminals, numbers from 0 on, whose meaning this package does not
// know. The output is rules (Grammar). They can be walked (Walk), measured (Lengths), counted
// (Counts, CountsOf), cut (Between) and searched (Seek, Finder), all without expanding them.
// Sequitur builds a grammar terminal by terminal; Resume continues one that was written to a file.
//
// Invariants of a valid Grammar (Validate):
//
//   - a rule refers only to rules with greater indices, so no rule contains itself;
//   - every symbol has an exponent of at least 1, and no rule that a symbol names is empty;
//   - no rule expands to 2^63 terminals or more.
//
// The invariants of Sequitur are in its own comment. It is the hot path of the recorder: Append is
// called for every MPI call that is not the expected continuation of a loop.
//
// The method is Sequitur (Nevill-Manning and Witten, JAIR 7, 1997) with run-length exponents
// (Dorier et al., TPDS 27, 2015), as in Pilgrim (Wang, Balaji, Snir, SC '21, §2.2). The package
// imports nothing of this module: the encoding of grammars is in trace/codec.
package grammar
