// Package execution computes the execution graph of a part of a run.
//
// Its input is a trace, its clocks and a window of time. The vertices are the calls of each rank.
// Horizontal edges lead from a call to the next on its thread, with the computation between them.
// Vertical edges lead from the call that sends a message, or enters a collective last, to the call
// that waits for it. It is the MPI execution graph of "Critical path analysis for MPI applications
// with Trace Compass" (Jumaah, Polytechnique Montréal 2023, §3.3.1), for all classes of
// collectives. Graphviz draws it from DOT; rank by rank the vertices are the timeline of calls.
package execution
