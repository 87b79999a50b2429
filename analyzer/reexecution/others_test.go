package reexecution

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestFreesWaitForOtherThreads: what one thread frees, two others used. The second use of the same
// id comes after it was freed, and counts for the second time that it is.
func TestFreesWaitForOtherThreads(t *testing.T) {
	b := tracetest.New(1)
	first := b.Rank(0)
	group := func(n int) args { return args{"group": tracetest.Group(n)} }
	freed := func(n int) args { return args{"group": tracetest.Freed(n)} }
	second, third := first.Thread(), first.Thread()
	second.Call("MPI_Group_size", 2, 3, group(1)).Call("MPI_Group_size", 4, 5, group(2)).Call("MPI_Group_size", 6, 7, group(1)).
		Call("MPI_Group_size", 12, 13, group(1))
	third.Call("MPI_Group_size", 5, 6, group(2)).Call("MPI_Group_size", 20, 21, group(1))
	first.Call("MPI_Group_size", 0, 1, group(1)).Call("MPI_Group_free", 10, 11, freed(1)).Call("MPI_Group_free", 14, 15, freed(1)).
		Call("MPI_Group_free", 16, 17, freed(2)).Call("MPI_Group_free", 18, 19, freed(3))
	tr := timeline.Of(b.Open(t))

	o := NewOthers(context.Background(), tr, []int{0, 1, 2}, 0)
	defer o.Close()
	var got []string
	require.NoError(t, Each(context.Background(), tr, 0, func(c *Call) error {
		after, err := o.Before(c)
		got = append(got, fmt.Sprint(after))
		return err
	}))
	assert.Equal(t, []string{"[]", "[{1 3}]", "[{1 4}]", "[{1 2} {2 1}]", "[]"}, got)
}

// TestFreesDoNotWaitForOtherObjects: two threads make, use and free an object of one number each,
// in turn; and one thread closes the file of a request that another one waits for.
func TestFreesDoNotWaitForOtherObjects(t *testing.T) {
	b := tracetest.New(1)
	first := b.Rank(0)
	second := first.Thread()
	turn := func(r *tracetest.Rank, at float64) {
		r.Call("MPI_Comm_group", at, at+1, args{"group": tracetest.Group(1)}).
			Call("MPI_Group_size", at+1, at+2, args{"group": tracetest.Group(1)}).
			Call("MPI_Group_free", at+2, at+3, args{"group": tracetest.Freed(1)})
	}
	turn(second, 0)
	turn(first, 10)
	turn(second, 20)
	turn(first, 30)
	second.Call("MPI_File_iwrite", 40, 41, args{"fh": tracetest.File(1), "request": tracetest.Request(0)}).
		Call("MPI_Wait", 42, 43, args{"request": tracetest.Request(0)})
	first.Call("MPI_File_close", 50, 51, args{"fh": tracetest.Freed(1)})
	assert.Equal(t, []After{{1, 8}}, waitsOfFirst(t, b))
}

// TestObjectsThatMPIReturnsAgain: the group of a communicator is the same one each time.
func TestObjectsThatMPIReturnsAgain(t *testing.T) {
	b := tracetest.New(1)
	first := b.Rank(0)
	group := args{"group": tracetest.Group(1)}
	first.Call("MPI_Comm_group", 0, 1, group)
	first.Thread().Call("MPI_Group_size", 2, 3, group)
	first.Call("MPI_Comm_group", 4, 5, group).Call("MPI_Group_free", 6, 7, args{"group": tracetest.Freed(1)}).
		Call("MPI_Group_free", 8, 9, args{"group": tracetest.Freed(1)})
	assert.Equal(t, []After{{1, 1}}, waitsOfFirst(t, b))
}

// waitsOfFirst lists what the calls of the first of two threads wait for.
func waitsOfFirst(t *testing.T, b *tracetest.Builder) (got []After) {
	t.Helper()
	tr := timeline.Of(b.Open(t))
	o := NewOthers(context.Background(), tr, []int{0, 1}, 0)
	defer o.Close()
	require.NoError(t, Each(context.Background(), tr, 0, func(c *Call) error {
		after, err := o.Before(c)
		got = append(got, after...)
		return err
	}))
	return got
}
