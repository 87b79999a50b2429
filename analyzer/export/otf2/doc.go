// Package otf2 writes a trace as an archive of the Open Trace Format 2, which Vampir, Scalasca, Cube and others read.
//
// In go a trace, a time range and a choice of ranks; out come the definitions and events of OTF2 3.0, to an Archive.
// Package library is one: it writes through the real library, which needs cgo, so it is built by the tag otf2 only.
// This package is plain Go, and decides all that is written:
//
//   - Two passes. The first matches all calls (package match), finds the times in which effects come after causes
//     (package causality), and what would be left dangling (pairing.go). The second goes through the calls of one
//     process after the other, so that one process's files are open at a time.
//   - Each MPI call is a region, entered and left; within it come the events of OTF2 that say what it did: messages.go,
//     collectives.go, windows.go, files.go. The functions that called it are regions around it (paths.go).
//   - A message is written as a whole or not at all: both ends, and of nonblocking ones their requests, have to be in
//     what is exported. So is a collective operation, among the ranks that are exported. The calls are there all the
//     same.
//   - Ranks keep their numbers: all ranks are defined, those that are left out have no events.
//
// Decision and figures: docs/decisions/0098-otf2.md.
package otf2
