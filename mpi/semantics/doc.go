// Package semantics says what a call of an MPI function means: its operation, when it completes, and the roles of its
// parameters.
//
// What goes in: a Declaration, which is what the standard's table (package mpi) and a trace have of a function: name,
// class, and the names, kinds and directions of the parameters. What comes out: a Function, made once per function. Its
// fields are numbers to switch on and positions to index with, so that it can be used call by call.
//
// This is the only place besides package mpi that reads the words of a class or looks a parameter up by its name
// (TestNobodyElseParses). A trace of a newer tracer may have words and names that are not known here: they mean nothing,
// and the rest of the function is read all the same.
package semantics
