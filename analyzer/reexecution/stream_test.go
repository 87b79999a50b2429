package reexecution

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// encoded is the words of a call.
func encoded(t *testing.T, c *Call) (words []uint64) {
	t.Helper()
	c.Semantics = semantics.Of(c.Function)
	var b bytes.Buffer
	e := NewEncoder(&b, "/scratch")
	require.NoError(t, e.Call(c))
	require.NoError(t, e.End())
	for b.Len() > 0 {
		words = append(words, binary.LittleEndian.Uint64(b.Next(8)))
	}
	return words
}

// TestStream: calls by hand, word by word.
func TestStream(t *testing.T) {
	constant := func(name string) uint64 { return uint64(mpi.ConstantByName(name).ID)<<3 | 2 }
	handle := func(id int64) trace.Value { return trace.Value{Form: trace.Handle, Int: id} }
	waitsome := mpi.ByName("MPI_Waitall")
	assert.Equal(t, []uint64{
		uint64(waitsome.ID) | 1<<16 | 5<<32, 1500,
		2 << 3, 2<<3 | 3, 7<<3 | 1, constant("MPI_REQUEST_NULL"), 2 << 3, // count, requests, room for statuses
		0, 0, // the end
	}, encoded(t, &Call{
		Function: waitsome, Compute: 1500, MayFail: true,
		In: []trace.Value{integer(2), list(handle(7), named("MPI_REQUEST_NULL"))},
	}))
	isend := mpi.ByName("MPI_Isend")
	assert.Equal(t, []uint64{
		uint64(isend.ID) | 7<<32, 0,
		5, 3 << 3, constant("MPI_INT"), constant("MPI_PROC_NULL"), ^uint64(7), 2<<3 | 1, 9<<3 | 1, // tag −1
		0, 0,
	}, encoded(t, &Call{
		Function: isend, Out: []trace.Value{handle(9)},
		In: []trace.Value{{Form: trace.Pointer}, integer(3), named("MPI_INT"), named("MPI_PROC_NULL"), integer(-1), handle(2)},
	}))
	free := mpi.ByName("MPI_Group_free")
	assert.Equal(t, []uint64{
		uint64(free.ID) | 2<<16 | 6<<32, 0,
		// two threads: 40 calls of the first, 7 of the second; the group
		2 << 3, 1 << 3, 40 << 3, 2 << 3, 7 << 3, 5<<3 | 1,
		0, 0,
	}, encoded(t, &Call{
		Function: free, After: []After{{1, 40}, {2, 7}}, In: []trace.Value{handle(5)}, Out: []trace.Value{named("MPI_GROUP_NULL")},
	}))
	remove := mpi.ByName("MPI_File_delete")
	name := encoded(t, &Call{Function: remove, In: []trace.Value{{Form: trace.Text, Text: "/tmp/a b"}, named("MPI_INFO_NULL")}})
	want := "/scratch/%2Ftmp%2Fa%20b"
	require.Equal(t, uint64(len(want))<<3|4, name[2])
	var text []byte
	for _, w := range name[3:6] {
		text = binary.LittleEndian.AppendUint64(text, w)
	}
	assert.Equal(t, want+"\x00", string(text))

	e := NewEncoder(new(bytes.Buffer), "")
	assert.ErrorContains(t, e.Call(&Call{Function: remove, Semantics: semantics.Of(remove), In: []trace.Value{integer(1 << 62), {}}}), "too large a number")
	assert.Len(t, ScratchName(strings.Repeat("x", 1000)), 200)
}
