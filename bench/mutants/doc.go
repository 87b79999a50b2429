// Command mutants asks whether the tests would notice a mistake: it makes small faults (mutants) in
// the code, one at a time, and runs the tests that reach them.
//
//	go run ./bench/mutants draw --seed 1 -n 270 -o LIST
//	go run ./bench/mutants run --list LIST --dir DIR [--tree TREE] [--short] [--before RESULTS]
//	go run ./bench/mutants shim --dir DIR [--tree TREE]
//	go run ./bench/mutants compare BEFORE AFTER
//
// draw chooses mutants of the packages in packages.go by a seed. A mutant is known by its package,
// function, operator and source text, and not by its line: the same list is valid for a later tree.
//
// run compiles all mutants into the test binaries (go test -overlay), each behind a switch that an
// environment variable sets. One run of each binary records which test reaches which mutants. Then
// the tests that reach a mutant run, fastest first, until one fails. What is known is in DIR: a run
// that is interrupted goes on where it stopped.
//
// shim applies the faults of shim.txt to the C code in a copy of the tree, builds it and runs the
// tests with real MPI programs.
//
// compare lists mutants that a test noticed before and none notices now.
package main
