// Package volume computes how much data a call moves (Payload), and the size of its largest buffer
// (Buffer).
//
// Its input is the semantics of a function's parameters (mpi/semantics) and the arguments of a
// call; its output is bytes, if known: only predefined datatypes have sizes here.
//
// Payload is the sending side if there are two, for all processes together; Buffer is the n of
// textbook costs of collectives (Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005).
package volume
