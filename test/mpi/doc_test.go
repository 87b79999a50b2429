//go:build mpi

// Package mpi runs the example programs under real MPI implementations, traced by the real `cairn
// run`, and compares the trace with two independent sources: the reference log (--verify) and the
// counts that each program itself prints. `make test STAGES="build mpi"` builds what it needs.
package mpi
