// Package recordtest writes raw records for tests as the shim does, with a fake MPI library.
//
// Calls of a program are made one by one (Shim) or by programs with certain properties
// (programs.go); the results are the words of each thread's record buffer. Lines decodes the calls
// of a trace with independent code, for comparison.
package recordtest
