// Package verify compares a decoded trace with the reference log that the shim wrote beside its records (`--verify`).
//
// In go a trace and the process directories of its ranks; out comes how many calls on how many ranks agree, and the
// first disagreements. The log is written by code of its own (tracer/shim/reference), so a mistake in the records, in
// the recorder, in the merger or in the trace's reader shows here.
//
// Two calls agree when function, result and every argument before and after the call do: numbers, texts and statuses
// exactly, constants by name, handles up to a renaming that is one-to-one among the objects that exist at the same time
// (handles.go), addresses as far as the trace keeps them: whether they are constants, NULL, or some pointer.
//
// Times agree when they are what the record had, to the tick or within the stated error of the timing mode, and when the
// record's time stamps fit the log's own clock (times.go). Of times that come from a lead rank the sums of an interval count
// only; of aggregated timing, the statistics of each signature.
package verify
