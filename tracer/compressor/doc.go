// Package compressor compresses what traced processes record, outside of them, while they run: in a
// pod it is part of the sidecar, on a laptop of `cairn run`
// (docs/decisions/0108-compressor.md).
//
// The input is a spool: the record buffers of its processes. A process that has filled 4 MiB of
// them, or asks for a ballot, gets a recorder. That consumes them (package recorder), writes
// checkpoints into the process's directory and so releases the buffers (package spool). Processes
// that record less, and what a process leaves at its end, are left to whoever recovers it.
//
// All state is in the spool: a compressor that is killed leaves nothing that the next one does not
// find. Only one may work on a spool at a time.
package compressor
