// Package verify compares a decoded trace with the reference log that the shim wrote beside its records (`--verify`).
//
// In go a trace and the process directories of its ranks; out comes how many calls on how many ranks agree, and the
// first disagreements. The log is written by code of its own (tracer/shim/reference.c), so a mistake in the records, in
// the recorder, in the merger or in the trace's reader shows here.
//
// Two calls agree when function, result and every argument before and after the call do: numbers, texts and statuses
// exactly, constants by name, handles up to a renaming that is one-to-one among the objects that exist at the same time
// (handles.go), addresses as far as the trace keeps them: whether they are constants, NULL, or some pointer.
//
// Times agree when the call lies in the window that the log's own clock gave it, within the declared error of the timing
// mode, and when calls that took long took most of their windows (times.go). Aggregated timing has no times of calls.
package verify
