// Package plants runs problems that are planted in a real program (program/plants.c) under both
// MPIs, and compares the verdict with what was planted. It needs the build tag mpi and the results
// of `make build`. The long form is `make bench-verdict`.
package plants
