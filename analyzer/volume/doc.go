// Package volume says how much data a call moves (Payload), and how large its largest buffer is (Buffer).
//
// In go what a function's parameters mean (mpi/semantics) and the arguments of a call; out come bytes, or that they are not
// known: sizes are those of predefined datatypes, a derived one has none here.
//
// Payload is the sending side where there are two, for all processes together; Buffer is the n of textbook costs of collectives
// (Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005).
package volume
