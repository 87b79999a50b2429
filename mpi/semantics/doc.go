// Package semantics defines what a call of an MPI function means: its operation, when it completes,
// and the roles of its parameters.
//
// The input is a Declaration: the name, the class, and the names, kinds and directions of the
// parameters, which both the standard's table (package mpi) and a trace have for each function. The
// output is a Function, created once per function. Its fields are numbers to switch on and indexes,
// so that it can be used for every call.
//
// Besides package mpi, only this package interprets the words of a class or looks up a parameter by
// its name (hack/lint/mpiwords). A trace of a newer tracer may have words and names that are
// unknown here. They are ignored, and the rest of the function is interpreted all the same.
package semantics
