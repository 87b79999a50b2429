// Package profile says how often, how long and with how many bytes each function was called: by call site,
// communicator, size class and rank, and who sent how much to whom.
//
// In goes a trace; out come Findings. Calls, times and bytes come from one pass over the calls, ranks in parallel
// (Profile.Location gives the Tally of one location, which a pass of another analysis may feed as well); the
// communication matrix is computed on the grammar (trace.Reader.Matrix). Memory grows with ranks and with the different
// combinations of function, call site, communicator and size class, never with calls.
//
// Bytes are what the caller passes in: elements × size of a predefined datatype, of the send side where a call has two
// (the receive buffer of MPI_Recv at its full size; an array of counts is summed, and a count of each process, as that of
// MPI_Alltoall, is that of all processes of the communicator). A call whose datatype the program has
// made counts as unsized.
package profile
