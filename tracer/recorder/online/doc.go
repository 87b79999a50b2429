// Package online clusters the ranks of a job while they run, after Chameleon (Bahmani and Mueller,
// IPDPS '18, §III). Ranks with the same calls between two markers are a cluster. While nothing
// changes, only the lead rank of each cluster keeps times.
//
// Its input is the calls of a process, by thread, and the records that the shim writes at the steps
// of votes. Its results are the rank's ballot, whether the times of a call are kept, buffered or
// dropped, and the votes for the trace. The times themselves are in the recorder, and the votes are
// held by the shim (tracer/shim/cluster/cluster.c): nothing here communicates.
//
//   - An interval is the calls of a thread between two markers. It is compared with the previous
//     interval by hashes: of functions and call sites, which are equal on all ranks, and of
//     whole signatures.
//   - A cut ends an interval. The rank's ballot about it can be read until the outcome, and all
//     times are buffered until then. The next cut comes after the outcome, so that one interval at
//     a time is closed.
//   - An outcome determines the lead. A rank that follows buffers its times. If its next interval
//     equals the previous one, the lead's times are used instead (trace.Extrapolation); otherwise
//     its own times are kept.
//   - The whole state follows from calls and records, so a recovery computes the state that
//     the process had.
package online
