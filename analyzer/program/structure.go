package program

import (
	"context"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// Structure is equal for sequences of calls that are one program except for trip counts and
// arguments: the same calls in the same loops. The grammar's terminals are kinds of calls:
// functions at call sites. It is a hash that is valid only within this process.
func Structure(g grammar.Grammar) uint64 {
	b := newBuilder(newSearch(context.Background()), g, func(terminal int32) uint64 { return uint64(terminal) + 1 })
	var shapes []uint64
	for _, x := range b.body(0).items {
		shapes = append(shapes, x.shape)
	}
	return hashOf(shapes...)
}
