// Package trace is the trace itself: what a file holds, how it is written and how it is read.
//
// A trace has, for each thread of each rank, its calls in order: a call signature (function, arguments, call site) for each
// terminal of a context-free grammar, streams of the values that differ from call to call, and the times of calls. What ranks
// have in common stands once. In goes what the recorder saw on one rank, or what the merger made of many (Content, Write); out
// come the same things again (Reader), or every call of a rank, decoded (Cursor, Event), or distinct calls with their counts
// (DistinctCalls). The package reads from an io.ReaderAt and never learns where the bytes are. The file format is in
// docs/format.md.
//
// Rooms, from the bottom up; each may import those above it in this list, and nothing else of the module:
//
//   - grammar: grammars of terminals, Sequitur;
//   - codec: bytes and lists of integers: decoder with a budget, sequences, columns, blocks and their index (imports grammar);
//   - timing: how exactly times are kept, and how they are written (imports codec);
//   - histogram: histograms of numbers (imports timing);
//   - trace: ranks, threads, signatures, communicators, and all that refers to them (imports all of these, and mpi/semantics).
//
// Recorder, merger and analyses import what they need of them. What a trace says about communication, datatypes and sizes is
// analysis: analyzer/traffic, analyzer/datatypes, analyzer/volume.
//
// Invariants:
//
//   - equal contents give equal bytes;
//   - a reader of any bytes ends with an error or with what a writer could have written, within its memory limit;
//   - what a Cursor says of a call does not depend on where it began to read.
//
// The method is Pilgrim's (Wang, Balaji, Snir, SC '21): a call signature table (CST, §2.1) and a context-free grammar over its
// terminals (§2.2), relative ranks (§3.4.2), times by mode (§3.2). Values that differ between ranks are columns, and those that
// differ between calls streams, as the elastic data elements of ScalaTrace II (Wu and Mueller, ICS 2013, §3.1).
package trace
