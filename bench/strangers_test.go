package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/apps/catalog"
)

// TestHalfOfTheProgramsAreHeldOut: the same half in any order of the corpus.
func TestHalfOfTheProgramsAreHeldOut(t *testing.T) {
	var programs, reversed []*catalog.Program
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		p := catalog.New(name)
		programs = append(programs, &p)
		reversed = append([]*catalog.Program{&p}, reversed...)
	}
	held := heldOut(programs)
	assert.Len(t, held, 3)
	assert.Equal(t, held, heldOut(reversed))
}
