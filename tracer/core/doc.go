// Command core is libcairn-core.so: the recorder as a C library, built with -buildmode=c-shared and loaded by the shim
// once a process has filled its first record buffers.
//
// In go full record buffers, out come fresh ones (docs/decisions/0001-seams.md, "C interface of the core"). Everything it
// does is in tracer/recorder/spool; what is here keeps a Go runtime from being noticed in a process that is not
// ours: one processor from the start and small threads (threads.c), a modest heap, no signal handlers, and no panic that
// gets out.
package main
