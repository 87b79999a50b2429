package recorder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
)

// A signature without arguments has the request that its calls create, which later calls can name.
// Calls on a communicator that is not described are on no communicator.
func TestBareSignatures(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	r := recorderOf(s)
	r.keys.Generalize(key.DropsArguments)
	r.Limits.Memory = 0
	s.Threads[0].Words = recordtest.NewBuffer(0, 1)
	s.Call(0, "MPI_Isend", 0, 0x10, 5, recordtest.TypeInt, 1, 7, recordtest.CommWorld, 500)
	s.Call(0, "MPI_Comm_dup", 0, recordtest.CommWorld, 600, recordtest.Description{Raw: 600, Own: 0, Size: 4, Group: recordtest.List{0, 1, 2, 3}})
	s.Call(0, "MPI_Wait", 0, 500, recordtest.RequestNull, recordtest.Status{Source: 1, Tag: 2, Bytes: 3})
	s.Call(0, "MPI_Isend", 0, 0x10, 9, recordtest.TypeInt, 3, 8, 600, 500)
	sources := sourcesOf(s, r, true)
	r.thread(0).sequence, r.thread(0).offset = 0, 0
	r.Consume(sources)
	c, err := r.Content()
	require.NoError(t, err)
	got := recordtest.Lines(t, recordtest.InMemory(t)(c, nil), 0)[1:]
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
