// Package recordtest writes raw records for tests, as the shim does, of a fake MPI library.
//
// In go calls of a program, made one by one (Shim) or by a program that has certain properties (programs.go); out come the
// words of each thread's record buffer. Lines decodes the calls of a trace by code of its own, for comparison.
package recordtest
