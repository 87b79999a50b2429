// Package observed decodes the file in which the shim keeps its observations of a process
// other than calls.
//
// Its input is the content of the file (tracer/shim/evidence/observed.h). Its results are:
//
//   - when the process was last known to be alive, and how it ended (Life);
//   - samples of what the operating system counts for it: CPU time, context switches, throttling
//     (trace.ContextSample);
//   - measurements of long computations, long calls and the process's threads (Evidence).
//     ChooseEvidence selects those that are a significant part of the run.
//
// The file is mapped, and the process may be killed at any time. So everything that changes exists
// in two copies, and a word has the index of the valid one. Content of an unknown format yields no
// results and no error.
package observed
