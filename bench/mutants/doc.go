// Command mutants asks whether the tests would notice a mistake: it makes small faults (mutants) in
// the code, one at a time, and runs the tests that reach them.
//
//	go run ./bench/mutants draw --tree OLD --seed 1 -n 270 -o LIST
//	go run ./bench/mutants run --tree OLD --list LIST --dir A
//	go run ./bench/mutants run --tree NEW --list LIST --dir B --short --before A/results.jsonl
//	go run ./bench/mutants compare A/results.jsonl B/results-short.jsonl
//	go run ./bench/mutants shim --tree TREE --dir DIR [--short]
//
// draw chooses mutants of the packages in packages.go by a seed. A mutant is known by its package,
// function, operator and source text, and not by its line: the same list is valid for a later tree.
//
// run compiles all mutants into the test binaries (go test -overlay), each behind a switch that an
// environment variable sets. One run of each binary records which test reaches which mutants. Then
// the tests that reach a mutant run, fastest first, until one fails. What is known of a tree is in
// its folder: a run that is interrupted goes on where it stopped. Remove the folder when the tree
// changes.
//
// shim applies the faults of shim.txt to the C code in a copy of the tree, builds it and runs the
// tests with real MPI programs.
//
// compare lists mutants that a test noticed before and none notices now.
package main
