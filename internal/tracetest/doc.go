// Package tracetest builds small traces with exact times by hand, for tests of code that reads
// traces.
//
// The input is calls with their times, rank by rank. The output is a trace.Content as a recorder
// could have written it, or the same written to memory and opened again. Functions and their
// parameters are those of package mpi. Times are in milliseconds, so that expected values can be
// computed in the head.
package tracetest
