// Package plants runs problems that are planted in a real program (program/plants.c) under both MPIs, and holds the verdict
// against what was planted. It needs the build tag mpi and what `make build` makes. The long form is `make bench-verdict`.
package plants
