// Package trace is the trace itself: what a file holds, how it is written and how it is read.
//
// In goes what the recorder saw on one rank, or what the merger made of many: call signatures, grammars, value
// streams and timing. Out come the same things again, or every call of a rank, decoded and in order (Cursor).
// The package reads from an io.ReaderAt and never learns where the bytes are. The file format is in docs/format.md.
//
// The method is Pilgrim's (Wang, Balaji, Snir, SC '21): a call signature table (CST, §2.1) and a context-free
// grammar over its terminals, built by Sequitur with run-length exponents (§2.2).
package trace
