// Package execution is the execution graph of a part of a run.
//
// In go a trace, its clocks and a window of time; out come vertices, the calls of each rank, and edges: horizontal ones
// from a call to the next on its thread, with the computation between them, and vertical ones from the call that sends a
// message, or enters a collective last, to the call that waits for it. It is the MPI execution graph of "Critical path
// analysis for MPI applications with Trace Compass" (Jumaah, Polytechnique Montréal 2023, §3.3.1), for all
// classes of collectives. As DOT it is drawn by Graphviz; rank by rank the vertices are the time line of calls.
package execution
