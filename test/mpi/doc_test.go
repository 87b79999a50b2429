//go:build mpi

// Package mpi runs the example programs under real MPI implementations, traced by the real `cairn run`, and holds
// the trace against two independent accounts: the reference log (--verify) and the counts that each program itself
// keeps and prints. `make test-mpi` builds what it needs.
package mpi
