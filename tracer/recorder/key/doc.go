// Package key turns the record of a call into its terminal, the number of its signature.
//
// Its input is a record (Table.Read) and, if the call created a communicator, the instance that the
// caller made of it (Call.AddInstance). Its results are:
//
//   - the terminal and the values for the streams of its signature (Table.Number);
//   - for calls that may recur, what their keys depend on (Table.Pattern);
//   - all signatures, for the trace and for checkpoints (Table.Signatures, Table.Encode).
//
// The method is that of Pilgrim (Wang et al., SC '21, §2.1): the arguments are written in canonical
// form as bytes, the key. Keys are numbered in the order in which they are first seen; the number
// is the terminal.
//
//   - layout.go says where the parameters are in a record of a function;
//   - forms.go is the one table that decides which values are in the key and which go to streams;
//   - write.go writes the key, signature.go has its format and decodes it;
//   - families.go makes streams of numbers that vary too much for signatures;
//   - generality.go leaves out more when the caller is short of memory (Table.Generalize);
//   - pattern.go compares a record with what the key of an earlier call depends on.
//
// A call changes the ids of handles and requests, which are in package identity. All other effects
// are the caller's (Call.Effect).
package key
