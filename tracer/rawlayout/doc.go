// Package rawlayout has the layout of the data that the tracer's C code writes to a process's
// directory or shares with Go in memory: magic texts, sizes, offsets, numbers, and the keys
// of process.json.
//
// It is generated from one table (gen/table.go), for Go here and for C in tracer/ring/layout_gen.h.
// The C structures are written by hand, beside the code that uses them; static assertions compare
// each field with the table. The meaning of the fields is documented there and in
// docs/decisions/0001-seams.md. Go code reads words and has few structure types: offsets are in
// bytes, and those of a whole word are multiples of 8.
package rawlayout

//go:generate go run ./gen
