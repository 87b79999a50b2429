// Package trace defines what a trace file contains, and writes and reads it.
//
// A trace has, for each thread of each rank, its calls in order: a call signature (function,
// arguments, call site) for each terminal of a context-free grammar, streams of the values that
// differ from call to call, and the times of calls. What ranks have in common is stored once. Write
// takes the calls that the recorder saw on one rank, or that the merger combined from many
// (Content). Reader returns the same data. Cursor decodes every call of a rank (Event), and
// DistinctCalls the distinct calls with their counts. The package reads from an io.ReaderAt and
// does not depend on where the bytes are. The file format is in docs/format.md.
//
// Its packages, from the bottom up; each may import those above it in this list, and nothing else
// of the module:
//
//   - grammar: grammars of terminals, Sequitur;
//   - codec: bytes and lists of integers: decoder with a budget, sequences, columns, blocks and
//     their index (imports grammar);
//   - timing: precision and encoding of times (imports codec);
//   - histogram: histograms of numbers (imports timing);
//   - trace: ranks, threads, signatures, communicators, and everything that refers to them (imports
//     all of these, and mpi/semantics).
//
// Recorder, merger and analyses import what they need of them. What a trace means in terms of
// communication, datatypes and sizes is analysis: analyzer/traffic, analyzer/datatypes,
// analyzer/volume.
//
// Invariants:
//
//   - equal contents give equal bytes;
//   - reading any bytes ends with an error or with content that a writer could have written, within
//     the memory limit;
//   - the events of a Cursor do not depend on where it began to read.
//
// The method is Pilgrim's (Wang, Balaji, Snir, SC '21): a call signature table (CST, §2.1) and a
// context-free grammar over its terminals (§2.2), relative ranks (§3.4.2), times by mode (§3.2).
// Values that differ between ranks are columns, and those that differ between calls are streams,
// like the elastic data elements of ScalaTrace II (Wu and Mueller, ICS 2013, §3.1).
package trace
