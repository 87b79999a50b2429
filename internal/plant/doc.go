// Package plant creates runs with known problems: it plants a problem in a program, and compares
// Cairn's report with it.
//
// The input is a kind of problem and a seed. The output is a Plant with:
//
//   - everything that was drawn at random: ranks, iterations, severity, the affected ranks
//   - a simulated run with the problem and without it (Simulate)
//   - the arguments of the C program that really does the same (Arguments;
//     test/plants/program/plants.c)
//   - the truth (Truth): which causes and ranks a report may name
//
// Judge compares causes with the truth. Table counts the results by kind, with Wilson's intervals.
// This package does not read traces: package examine runs plants and analyzes them.
//
// The truth is what was planted. It never depends on the analyzer, and no plant is chosen by the
// analyzer's results.
package plant
