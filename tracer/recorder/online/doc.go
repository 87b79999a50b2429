// Package online clusters the ranks of a job while they run, after Chameleon (Bahmani and Mueller, IPDPS '18, §III): ranks that
// call the same between two markers are a cluster, and of each cluster only the lead rank keeps times while nothing changes.
//
// In go the calls of a process, by thread, and the records of the steps of votes that the shim writes at markers; out come the
// rank's ballot, whether the times of a call are kept, wait or are given up, and what the trace has of votes. The times
// themselves are the recorder's, and the ranks vote in the shim (tracer/shim/cluster/cluster.c): nothing here communicates.
//
//   - An interval is what a thread calls between two markers. It is compared with the one before by hashes: of functions and
//     call sites (equal on all ranks), and of whole signatures.
//   - A cut ends it: the rank casts its ballot, and all times wait until the outcome is known.
//   - An outcome says who leads. Of a rank that follows, times wait; where its next interval is as the one before, the lead's
//     times stand for them (trace.Extrapolation), and else they are kept.
//   - All of the state follows from calls and records, so that a recovery finds what the process knew.
package online
