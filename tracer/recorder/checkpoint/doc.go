// Package checkpoint encodes and decodes the values in a checkpoint of the recorder: integers,
// booleans and texts.
//
// The encoding has no tags: reader and writer must agree on the order of values, since only the
// version of the tracer that wrote a checkpoint reads it. A Visitor is both: what it visits is
// written and read in one order.
package checkpoint
