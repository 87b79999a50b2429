// Package ring is what a traced process and the compressor outside of it share: the layout of
// record buffers (buffer.h), what each tells the other (ring.h), and the doorbell that wakes the
// compressor. It is written in C once, and linked into the shim (tracer/shim) and, by cgo, into the
// compressor (tracer/compressor). docs/decisions/0108-compressor.md has the protocol.
package ring
