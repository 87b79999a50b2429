// Package checkpoint writes values into a checkpoint of the recorder, and reads them back.
//
// In go integers, booleans and texts, one after the other; out come the bytes of the state, and from these the same values.
// Who reads knows what was written in which order: the state is read by the version of the tracer that wrote it.
package checkpoint
