// Package plant makes runs whose trouble is known: it plants a problem in a program, and holds what Cairn says against it.
//
// What goes in: a kind of problem and a seed. What comes out: a Plant, with all that chance has drawn (ranks, iterations,
// how much, who), a simulated run with the problem and without it (Simulate), the arguments of the C program that really
// does the same (Arguments; test/plants/program/plants.c), and what is true of it (Truth): which causes may be named and
// who. Judge holds causes against that; Table counts by kind, with Wilson's intervals. Nothing here looks at a trace:
// package examine runs plants and analyzes them.
//
// The truth is what was planted. It does not come from the analyzer, and no plant is chosen by what the analyzer says.
package plant
