// Package datatypes rebuilds what MPI's derived datatypes take in memory from the calls that constructed them.
//
// In go the calls of a rank in their order (Table.See); out comes what each handle of a datatype stands for (Table.Of): size,
// extent and true extent, as MPI_Type_size and MPI_Type_get_extent would give them, and the typemap as text. Size has those of
// predefined types by name.
//
// Invariants:
//
//   - all numbers are bytes, those of the platforms that MPI jobs run on (64-bit Linux, LP64);
//   - a type that is made of one that is not known is not known either.
//
// The rules are those of MPI 4.0, §5.1.
package datatypes
