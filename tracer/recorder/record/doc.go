// Package record is the raw format: what the shim writes into the directory of a process, before anybody has looked at what
// it means.
//
// In go words in mapped memory and bytes of files (docs/decisions/0001-seams.md, "Raw records"); out come:
//
//   - record buffers and the records in them (Buffer, Record), and the values that a record is made of (Reader);
//   - the entries of the dictionary, for which words of records stand: modules, call paths, allocations, lines (Dictionary);
//   - process.json: who the process is, its clock, its modules, and the constants of its MPI library (Process).
//
// Two things hold of everything here:
//
//   - A buffer of a living process grows while it is read. Its header says how much is there, and a record counts once it is
//     committed; both words are loaded with acquire order.
//   - Nothing that was read is believed. Lengths are checked against what is there, and the content of process.json never
//     gets into the text of an error.
package record
