// Package skeleton writes the program of a trace in C: a performance skeleton, which communicates as the traced program
// does and computes for as long, but computes nothing.
//
// In goes a trace; out comes a Skeleton: one C file that any MPI compiles, a Makefile, and what a reader must know. The
// method is that of package program, whose tree of loops and calls is written as text: loops as loops, the functions of
// the call path as functions, ranks that differ as conditions, arguments as functions of rank and size. Skeletons of
// logical traces are what "Logicalization of MPI communication traces" (Xu, Prithivathi, Subhlok, Zheng) is for (§1, §2);
// Pilgrim (Wang, Balaji, Snir, SC '21, §6) names proxy programs as a use of its traces.
//
//   - observe.go goes through all calls of all ranks along the tree and keeps what each rank gave to the calls of a step:
//     once where it is always the same. It also makes sure that the tree is the program.
//   - expression.go and condition.go find C for what ranks have: constants, functions of the rank, results of earlier calls
//     (MPI_Cart_shift), else tables.
//   - shape.go recognizes the topology; neighbor.go, place.go and dimensions.go find peers, conditions and loops in it, which
//     are for other numbers of ranks, too ("Logicalization", §4.3); order.go and elsewhere.go check that they are.
//   - writer.go writes loops, conditions and functions, call.go calls, by the table of package mpi.
//   - shorten.go finds the loops that may have fewer iterations: those whose first ones leave nothing under way.
//
// Handles are variables: a trace numbers the objects that live at the same time, so a number is a variable. Calls that
// complete any of several requests are given those that were completed in the recorded run, and calls that poll wait.
package skeleton
