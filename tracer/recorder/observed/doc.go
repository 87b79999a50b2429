// Package observed reads what the shim observes of a process beside its calls, from the one file in which it keeps that.
//
// In goes the content of the file (tracer/shim/evidence/observed.h); out come:
//
//   - when the process was last known to live, and what is known of its end (Life);
//   - what the operating system counts for it, sampled now and then: CPU time, context switches, throttling (trace.ContextSample);
//   - what was measured of long computations and calls, and of the process's threads (Evidence), of which ChooseEvidence keeps
//     what takes a part of the run worth telling.
//
// The file is mapped, and the process may be killed at any moment: of everything that changes there are two copies and a word
// that says which one counts. Bytes of another format give nothing, and no error.
package observed
