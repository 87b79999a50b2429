// Package tracetest makes small traces with exact times by hand, for tests of whatever reads traces.
//
// In go calls with their times, rank by rank; out comes a trace.Content as a recorder could have written it, or the
// same written to memory and opened again. Functions and their parameters are those of package mpi. Times are in
// units of a millisecond, so that expectations can be worked out in the head.
package tracetest
