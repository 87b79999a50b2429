// Package otf2 writes a trace as an archive of the Open Trace Format 2, which Vampir, Scalasca,
// Cube and others read.
//
// The input is a trace, a time range and a selection of ranks; the output is the definitions and
// events of OTF2 3.0, written to an Archive. Package library implements it with the real library.
// That needs cgo, so it is built with the tag otf2 only. This package is plain Go and decides
// everything that is written:
//
//   - Two passes. The first matches all calls (package match), computes times in which effects come
//     after causes (package causality), and finds what would be left without its other side
//     (pairing.go). The second writes the calls of one process after the other, so that only one
//     process's files are open at a time.
//   - Each MPI call is a region that is entered and left. Within it are the OTF2 events for its
//     effects: messages.go, collectives.go, windows.go, files.go. The functions that called it are
//     regions around it (paths.go).
//   - A message is written completely or not at all: both ends, and the requests of nonblocking
//     ones, must be in the selection. The same is true of a collective operation, with respect to
//     the selected ranks. The calls are always written.
//   - Ranks keep their numbers: all ranks are defined, and unselected ones have no events.
//
// Decision and figures: docs/decisions/0098-otf2.md.
package otf2
