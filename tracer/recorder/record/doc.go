// Package record reads the raw format: the files that the shim writes into the
// directory of a process.
//
// Its input is words in mapped memory and bytes of files (docs/decisions/0001-seams.md, "Raw
// records"). Its results are:
//
//   - record buffers, the records in them (Buffer, Record) and the values of a record (Reader);
//   - the entries of the dictionary that words of records refer to: modules, call paths,
//     allocations, lines (Dictionary);
//   - process.json: the identity of the process, its clock, its modules, and the constants of its
//     MPI library (Process).
//
// Invariants:
//
//   - A buffer of a living process grows while it is read. Its header has the number of
//     words written, and a record is valid once it is committed. Both words are loaded
//     with acquire order.
//   - No input is trusted. Lengths are checked against the available data, and no text of
//     process.json appears in an error.
package record
