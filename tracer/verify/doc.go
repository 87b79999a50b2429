// Package verify compares a decoded trace with the reference log that the shim wrote in addition to
// its records (`--verify`).
//
// Its input is a trace and the process directories of its ranks. Its result is the number of
// calls and ranks that agree, and the first disagreements. The log is written by separate code
// (tracer/shim/reference), so bugs in the records, the recorder, the merger or the trace's
// reader are found.
//
// Calls that came to the MPI library past the shim are in neither. The log has their number, which
// is a disagreement.
//
// Two calls agree if function, result and every argument before and after the call agree: numbers,
// texts and statuses exactly; constants by name; handles up to a renaming that is one-to-one among
// the objects that exist at the same time (handles.go); addresses as far as the trace has them: a
// constant, NULL, or some pointer.
//
// Times agree if they equal those of the record, to the tick or within the stated error of the
// timing mode, and if the record's time stamps are consistent with the log's own clock (times.go).
// Of times that are extrapolated from a lead rank only the sums of an interval are compared; of
// aggregated timing, the statistics of each signature.
package verify
