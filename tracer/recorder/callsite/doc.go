// Package callsite numbers the call sites of a process: a module and an offset, or a line of an
// interpreter's source file, with the caller if call paths are recorded.
//
// Its input is the addresses and call paths in records, the modules of process.json and the
// dictionary, which grows while the process runs. Its results are the number of each address's
// site and the list of sites for the trace. Allocations of the dictionary are here, too: each was
// made at a site.
package callsite
