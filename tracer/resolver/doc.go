// Package resolver makes the names of call sites for the ranks of a spool.
//
// In go open binaries: a rank sends the descriptors of a binary, and of its separate debug file,
// over the socket <spool>/symbols/socket (tracer/shim/address/resolve.c), because the listener may
// be in another container of the pod and cannot open the files itself. Out come tables of symbols
// (package symbols), <spool>/symbols/<build-id>.json.
//
// The senders are not trusted. A listener accepts only regular files, and limited numbers of
// connections, binaries and bytes. A table is made by a child of the listener, one at a time, with
// the lowest priority and limits of memory, time and output: whatever a binary does to the parser,
// only its own table is missing. A second child then tries it with the symbol table alone.
package resolver
