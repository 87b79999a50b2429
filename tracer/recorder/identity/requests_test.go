package identity

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A request that has ended under a raw handle is forgotten, however many share the handle.
func TestRequestQueues(t *testing.T) {
	q := newRequests()
	c := q.Creator([]byte("a"))
	var ids []int32
	for range 4 {
		ids = append(ids, q.Create(c, 7).ID)
	}
	q.Begin(0)
	for _, want := range ids {
		if got := q.Resolve(7); got != want {
			t.Fatalf("mention %d, want %d", got, want)
		}
	}
	q.end(7, ids[2])
	q.end(7, ids[0])
	q.end(7, ids[3])
	q.Begin(0)
	if got := q.Resolve(7); got != ids[1] {
		t.Errorf("left is %d, want %d", got, ids[1])
	}
	q.end(7, ids[1])
	if got := q.Create(c, 7).ID; got != ids[0] {
		t.Errorf("again %d, want %d", got, ids[0])
	}
	if n := len(q.live); n != 4 {
		t.Errorf("%d nodes, want 4", n)
	}
}

// Dropping the handles without a live request leaves the others, and the constants.
func TestEmptyQueuesAreDropped(t *testing.T) {
	q := newRequests()
	q.table[1] = -1
	c := q.Creator([]byte("a"))
	live := q.Create(c, 2).ID
	for raw := uint64(3); raw < 10*firstQueues; raw++ {
		q.end(raw, q.Create(c, raw).ID)
	}
	assert.LessOrEqual(t, len(q.table), firstQueues+1)
	value, _ := q.Known(1)
	assert.EqualValues(t, -1, value)
	value, _ = q.Known(2)
	assert.Equal(t, live, value)
}

// A snapshot is the same if all its requests are live, no other is, and none was created anew.
func TestSnapshots(t *testing.T) {
	q := newRequests()
	c := q.Creator([]byte("a"))
	first := q.Create(c, 7).ID
	s := q.Snapshot(nil)
	assert.True(t, q.Same(s))
	second := q.Create(c, 8).ID
	assert.False(t, q.Same(s), "one more")
	q.end(8, second)
	assert.True(t, q.Same(s))
	q.end(7, first)
	assert.False(t, q.Same(s), "one less")
	assert.Equal(t, first, q.Create(c, 7).ID)
	assert.False(t, q.Same(s), "another request with the id")
}

// A call ends the requests that are null after it, unless they were null before.
func TestComplete(t *testing.T) {
	const null = 0x2c000000
	q := newRequests()
	q.table[null] = -1
	c := q.Creator([]byte("a"))
	a, b := q.Create(c, 7).ID, q.Create(c, 8).ID
	q.Complete([]uint64{null, 7, 8}, []uint64{null, null, 8}, []int32{-1, a, b})
	assert.Equal(t, 1, q.Live())
	_, known := q.Known(7)
	assert.False(t, known)
	id, known := q.Known(8)
	assert.True(t, known)
	assert.Equal(t, b, id)
}
