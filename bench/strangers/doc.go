// Package strangers examines the verdict with programs and problems that its authors did not write:
// make bench-strangers.
//
// The programs are those of the corpus (apps/programs.txt). The problems are faults that come from
// outside while a program runs. A Case is drawn from a seed and its index: program, fault, rank,
// begin and strength. The fault knows the answer that a report must give, and measures its own
// effect: a run in which it has none is not judged. The runs of a case are without the fault, with
// it, without it and so on. The runs without it are its controls, in which the same injector works
// at strength 0, and the difference is the cost of the fault.
//
//   - Class A: one rank on each of two cores, which lacks CPU time, is stopped or killed. The
//     injector reads how long each rank waited for a CPU, and discards a run in which a rank
//     without a fault waited for more than 3 % of its time: there was other load.
//   - Class B: 8 ranks on the hosts of a network (test/network) that re-execute the trace of a
//     program and sleep instead of computing. Ranks are stretched, stopped or killed, or the
//     network is slow.
//   - Class C: more ranks than cores, with and without other load. All that counts is whether a
//     rank is blamed.
//
// Results are lines of a file, one per run. A run that is there is not repeated, so that an
// examination of hours may be interrupted. What Judge says of them is computed anew each time.
//
// Half of the programs are held out: they run only with FINAL=1, and have rows of their own.
package strangers
