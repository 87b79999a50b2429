package recorder

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A signature without arguments has the request that its calls create, which calls from before can name. What is done with a
// communicator that is not described is on no communicator.
func TestBareSignatures(t *testing.T) {
	s := newFakeShim(t)
	s.init(0, 4)
	r := recorderOf(s)
	r.generalizeTo(dropsArguments)
	r.limits.memory = 0
	s.threads[0].words = newSegmentWords(0, 1)
	s.call(0, "MPI_Isend", 0, 0x10, 5, typeInt, 1, 7, commWorld, 500)
	s.call(0, "MPI_Comm_dup", 0, commWorld, 600, descr{raw: 600, own: 0, size: 4, group: list{0, 1, 2, 3}})
	s.call(0, "MPI_Wait", 0, 500, requestNull, status{source: 1, tag: 2, bytes: 3})
	s.call(0, "MPI_Isend", 0, 0x10, 9, typeInt, 3, 8, 600, 500)
	sources := sourcesOf(s, r, true)
	r.thread(0).sequence, r.thread(0).offset = 0, 0
	r.consume(sources)
	c, err := r.Content()
	require.NoError(t, err)
	got := lines(t, inMemory(t)(c, nil), 0)[1:]
	require.Equal(t, []string{
		"Isend(- - - - - - -> #0)",
		"Comm_dup(- -> -)",
		"Wait(- -> - -)",
		"Isend(- - - - - - -> #0)",
	}, got)
	for _, s := range c.Signatures[1:] {
		require.True(t, s.Generalized)
		require.Zero(t, s.Site)
	}
}
