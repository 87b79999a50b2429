// Package rawlayout is the layout of what the tracer's C leaves in a process's directory, or shares with Go in memory: magic
// texts, sizes, offsets, numbers, and the keys of process.json.
//
// All of it is generated from one table (gen/table.go), for Go here and for C in tracer/core/layout_gen.h. The structures
// themselves are written in C by hand, beside the code that uses them; static assertions hold each field to the table. What
// a field means is said there, and in docs/decisions/0001-seams.md. Who reads words knows of no Go type of them: offsets are
// in bytes, and those of a whole word divide by 8.
package rawlayout

//go:generate go run ./gen
