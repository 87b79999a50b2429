// Package skeleton writes the program of a trace in C: a performance skeleton, which communicates
// like the traced program and computes for as long, but computes nothing.
//
// The input is a trace. The output is a Skeleton: one C file that any MPI compiles, a Makefile, and
// notes for the reader. The tree of loops and calls of package program is written as text: loops as
// loops, the functions of the call path as functions, differences between ranks as conditions,
// arguments as functions of rank and size. Skeletons of logical traces are the purpose of
// "Logicalization of MPI communication traces" (Xu, Prithivathi, Subhlok, Zheng) (§1, §2); Pilgrim
// (Wang, Balaji, Snir, SC '21, §6) names proxy programs as a use of its traces.
//
//   - observe.go goes through all calls of all ranks along the tree and keeps what each rank passed
//     to the calls of a step: once if it is always the same. It also checks that the tree is the
//     program.
//   - expression.go and condition.go find C expressions for the values of ranks: constants,
//     functions of the rank, results of earlier calls (MPI_Cart_shift), else tables.
//   - shape.go recognizes the topology. neighbor.go, place.go and dimensions.go find peers,
//     conditions and loops in it, which are valid for other numbers of ranks, too
//     ("Logicalization", §4.3). order.go and elsewhere.go check that they are.
//   - writer.go writes loops, conditions and functions, and call.go calls, according to the table
//     of package mpi.
//   - shorten.go finds the loops that may have fewer iterations: those whose first ones leave no
//     operations pending.
//
// Handles are variables: a trace numbers the objects that live at the same time, so a number is a
// variable. Calls that complete any of several requests get the requests that were completed in the
// recorded run, and calls that poll wait.
package skeleton
