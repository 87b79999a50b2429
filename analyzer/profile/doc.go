// Package profile computes the number, duration and bytes of the calls of each function: by call
// site, communicator, size class and rank, and the communication matrix.
//
// Its input is a trace, its output Findings. Calls, times and bytes come from one pass over the
// calls, ranks in parallel (Profile.Location returns the Tally of one location, which a pass of
// another analysis may use as well). The communication matrix is computed on the grammar (package
// traffic). Memory grows with ranks and with the combinations of function, call site, communicator
// and size class, never with calls.
//
// Bytes are what the caller passes: elements × size of a predefined datatype, of the send side if a
// call has two. The receive buffer of MPI_Recv counts with its full size. An array of counts is
// summed, and a count per process, as for MPI_Alltoall, counts for all processes of the
// communicator. A call with a derived datatype counts as unsized.
package profile
