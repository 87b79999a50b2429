// Package mpi is the MPI standard's C interface as data: every function
// with its parameters, and every named constant.
//
// The input is functions.txt and constants.txt, which are written by hand. The
// output is the tables Functions and Constants. `go generate` generates them
// from the text, and they are checked in, so that nothing is parsed inside an
// application. Parser, wrappers, decoder, dump and docs read these tables; no
// other code lists MPI functions. Package semantics defines what calls of a
// function mean.
//
// # Functions
//
// A block of functions.txt is a function:
//
//	12 MPI_Waitsome 1.0 waitsome
//	  incount            in     int
//	  array_of_requests  inout  request  [incount]            completed
//	  outcount           out    int
//	  array_of_indices   out    index    [incount:*outcount]
//	  array_of_statuses  out    status   [incount:*outcount]
//
// The header has the id, the name, the version of MPI that introduced the
// function (`1.0`, or `1.0-2.0` when 2.0 deprecated it, or `1.0-2.0-3.0` when
// 3.0 removed it), and the class. Ids are written to traces: they are only
// ever appended, never reused.
//
//	2 MPI_Send 1.0 send blocking standard
//	  large 3 MPI_Send_c 4.0
//
// means that MPI_Send_c has the same parameters with the large types of each
// kind (MPI 4.0 §2.5.8). A function that does not return an error code has the
// kind of its result after an arrow: `... -> double`.
//
// A parameter line has the name as in the standard, the direction, the kind
// with the C type if it differs from the kind's own (`count:MPI_Count`, or
// `kind:small|large`), then the length if it is an array or a string with a
// capacity, then flags.
//
// # Lengths
//
// `[n]` is a length; `[n:m]` is a capacity n with m elements that are defined
// after the call (never more than n, and none when m is negative: MPI_UNDEFINED
// as the outcount of MPI_Waitsome). `[][3]`-like inner dimensions follow:
// `[n][3]`. The terms are
//
//	n                 the value of the parameter n (on entry, if n is inout)
//	*n                what n points to after the call
//	n+1               the same plus a number
//	3                 a number
//	MPI_MAX_ERROR_STRING   a constant of mpi.h
//	null              up to and without a terminating NULL (0 in a string)
//	sum(a)            the sum of the elements of the array a
//	last(a)           the last element of the array a, 0 when it is empty
//	size(comm)        the group that a collective addresses: the remote group
//	                  of an intercommunicator, else the group of comm
//	localsize(comm)   MPI_Comm_size
//	indegree(comm), outdegree(comm)
//	                  the neighbors of the caller, in any topology: 2·ndims
//	                  for Cartesian, MPI_Graph_neighbors_count for graph,
//	                  MPI_Dist_graph_neighbors_count (MPI 4.0 §8.6)
//	ndims(comm)       MPI_Cartdim_get
//	nnodes(comm), nedges(comm)     MPI_Graphdims_get
//	neighbors(comm,rank)           MPI_Graph_neighbors_count
//	integers(t), addresses(t), datatypes(t), counts(t)
//	                  the result of MPI_Type_get_envelope(_c) for datatype t
//
// A length below 0, or one read through a NULL pointer, is 0. An array of
// length 0 may be NULL.
//
// Without a length an `in` string ends at its 0 and anything else is a scalar.
//
// # Flags
//
//	new               an out handle that the call creates and the caller frees
//	existing          an out handle that the call only returns, and that may
//	                  not have been seen before
//	freed             the handle is released; the call overwrites it
//	completed         requests that the call may complete; a persistent one
//	                  becomes inactive, any other becomes MPI_REQUEST_NULL
//	started           requests that the call makes active
//	consumed          a message that the matched receive consumes
//	kept              an inout handle that stays valid while its object changes
//	root              significant only at the root: `root` is the caller's
//	                  rank, or MPI_ROOT in an intercommunicator. An array
//	                  must not be read at other ranks: it may be NULL or garbage;
//	                  a handle may be invalid
//	unless-inplace(p) not significant if p is MPI_IN_PLACE
//	if(flag)          an out value defined only when *flag is true after the
//	                  call (MPI_Test's status)
//	of(comm)          the object that these ranks refer to, if several could be
//	or(A,B)           pointer constants that may be passed instead of the array
//	                  (MPI_UNWEIGHTED); nothing may be read through them
//	nullable          NULL is allowed and means that there is no value
//	mutable           an `in` array or pointer that C does not declare const
//	by-pointer        an `in` scalar that C passes by address (MPI_Cancel)
//
// Some sentinels go with the kind and are not repeated: a buffer may be
// MPI_BOTTOM or MPI_IN_PLACE, a status MPI_STATUS_IGNORE, an array of statuses
// MPI_STATUSES_IGNORE.
//
// In an intercommunicator the send arguments of the root of a gather, the
// receive arguments of the root of a scatter, and all arguments of a process
// that passes MPI_PROC_NULL as the root, are not significant either (MPI 4.0
// §6.2.3). Of these, arrays have the flag `root`; the rest may be garbage.
//
// # Constants
//
// A line of constants.txt is a constant: id, name, versions, the kinds that
// have such a value, and flags: `pointer` for an address with a special
// meaning, `optional` if implementations may lack it.
//
// # Classes
//
// See class.go for the vocabulary.
package mpi

//go:generate go run ./gen
