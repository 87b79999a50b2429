// Command core is libcairn-core.so: the recorder as a C library, built with -buildmode=c-shared and
// loaded by the shim once a process has filled its first record buffers.
//
// It takes full record buffers and returns fresh ones (docs/decisions/0001-seams.md, "C interface
// of the core"). The work is done in tracer/recorder/spool. This package keeps the Go runtime from
// affecting the application: one processor from the start, small threads (threads.c), a small heap,
// no signal handlers, and no panic that leaves it.
package main
