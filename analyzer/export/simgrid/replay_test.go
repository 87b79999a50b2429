package simgrid_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A message that was posted on one side at least.
type message struct{ sent, awaited, shakes bool }

type request struct {
	src, dst, tag int
	send          bool
	number        int // among those of its key and side
}

// A replayer runs exports by MPI's rules alone, without time: who waits for whom. It is what
// smpirun -replay must be able to do, and says where it could not.
type replayer struct {
	t          *testing.T
	name       string
	handshake  int64
	messages   map[[3]int][]*message
	posted     map[[3]int][2]int // sends and receives
	requests   []map[[3]int][]request
	collective [][]string // of each rank, so far
}

func (r *replayer) post(rank, peer, tag int, send, shakes bool) request {
	key := [3]int{peer, rank, tag}
	side := 1
	if send {
		key, side = [3]int{rank, peer, tag}, 0
	}
	n := r.posted[key]
	number := n[side]
	for len(r.messages[key]) <= number {
		r.messages[key] = append(r.messages[key], &message{})
	}
	if m := r.messages[key][number]; send {
		m.sent, m.shakes = true, shakes
	} else {
		m.awaited = true
	}
	n[side]++
	r.posted[key] = n
	return request{key[0], key[1], key[2], send, number}
}

func (r *replayer) done(q request) bool {
	m := r.messages[[3]int{q.src, q.dst, q.tag}][q.number]
	if q.send {
		return !m.shakes || m.awaited
	}
	return m.sent
}

// replay runs all ranks, each as far as it can go, until all have ended.
func replay(t *testing.T, name, dir string, ranks int, handshake int64) {
	t.Helper()
	r := &replayer{
		t: t, name: name, handshake: handshake, messages: map[[3]int][]*message{}, posted: map[[3]int][2]int{}, collective: make([][]string, ranks),
	}
	lists := make([][]string, ranks)
	for i := range ranks {
		lists[i] = actions(t, dir, strconv.Itoa(i))
		r.requests = append(r.requests, map[[3]int][]request{})
	}
	blocked := make([]*request, ranks)
	entered := make([]bool, ranks)
	for moved := true; moved; {
		moved = false
		for i := range lists {
			for len(lists[i]) > 0 && r.step(i, lists[i][0], &blocked[i], &entered[i]) {
				lists[i], moved = lists[i][1:], true
			}
		}
	}
	for i, list := range lists {
		if len(list) > 0 {
			require.Fail(t, "does not end", "%s: rank %d is stuck at %q, %d actions before its end", name, i, list[0], len(list))
		}
		require.Empty(t, r.requests[i], "%s: requests of rank %d", name, i)
	}
	for key, n := range r.posted {
		require.Equal(t, n[0], n[1], "%s: sends and receives of %v", name, key)
	}
}

// step runs an action; false: not yet.
func (r *replayer) step(rank int, line string, blocked **request, entered *bool) bool {
	word := strings.Fields(line)
	number := func(i int) int {
		n, err := strconv.Atoi(word[i])
		require.NoError(r.t, err, line)
		return n
	}
	switch word[0] {
	case "init", "finalize", "compute", "sleep", "location":
		return true
	case "send", "recv":
		if *blocked == nil {
			q := r.post(rank, number(1), number(2), word[0] == "send", int64(number(3)) >= r.handshake)
			*blocked = &q
		}
		if !r.done(**blocked) {
			return false
		}
		*blocked = nil
		return true
	case "isend", "irecv":
		q := r.post(rank, number(1), number(2), word[0] == "isend", int64(number(3)) >= r.handshake)
		key := [3]int{q.src, q.dst, q.tag}
		r.requests[rank][key] = append(r.requests[rank][key], q)
		return true
	case "wait":
		key := [3]int{number(1), number(2), number(3)}
		list := r.requests[rank][key]
		require.NotEmpty(r.t, list, "%s: rank %d waits for what it never posted: %s", r.name, rank, line)
		if !r.done(list[0]) {
			return false
		}
		if r.requests[rank][key] = list[1:]; len(list) == 1 {
			delete(r.requests[rank], key)
		}
		return true
	case "waitall":
		for _, list := range r.requests[rank] {
			for _, q := range list {
				if !r.done(q) {
					return false
				}
			}
		}
		clear(r.requests[rank])
		return true
	}
	// a collective: all synchronize here, which is more than MPI asks for
	if !*entered {
		*entered = true
		r.collective[rank] = append(r.collective[rank], word[0])
	}
	n := len(r.collective[rank])
	for other := range r.collective {
		if len(r.collective[other]) < n {
			return false
		}
		require.Equal(r.t, word[0], r.collective[other][n-1], "%s: collective %d of ranks %d and %d", r.name, n, rank, other)
	}
	*entered = false
	return true
}
