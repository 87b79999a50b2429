// Package datatypes reconstructs the memory layout of MPI's derived datatypes from the calls that
// constructed them.
//
// Its input is the calls of a rank in program order (Table.See). Table.Of returns the datatype of a
// handle: size, extent and true extent like MPI_Type_size and MPI_Type_get_extent, and the typemap
// as text. Size returns the size of predefined types by name.
//
// Invariants:
//
//   - All numbers are bytes, for the platforms that MPI jobs run on (64-bit Linux, LP64).
//   - A type that is made of an unknown type is unknown.
//
// The rules are those of MPI 4.0, §5.1.
package datatypes
