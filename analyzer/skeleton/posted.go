package skeleton

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// maxTurns is the maximum number of iterations of a loop over the dimensions of a hypercube, or
// over children in a tree.
const maxTurns = 32

// countRequests finds calls that wait for all requests of preceding calls, of which ranks make
// different numbers: at an edge of a grid a rank has fewer neighbors. Then their requests are
// numbered by a counter.
func (w *writer) countRequests(steps []*step) {
	for i, s := range steps {
		w.countRequests(s.body)
		if s.meaning == nil || s.meaning.Operation != semantics.WaitAll {
			continue
		}
		from := i
		for from > 0 && len(steps[from-1].body) == 0 && !takesRequests(steps[from-1]) {
			from--
		}
		w.countBefore(steps[from:i], s)
	}
}

// madeRequest returns which of a call's results is a request; −1: none.
func madeRequest(s *step) int {
	if s.meaning == nil {
		return -1
	}
	return int(s.meaning.Out[semantics.Request])
}

// takesRequests reports whether calls have requests as inputs.
func takesRequests(s *step) bool { return s.meaning != nil && s.meaning.In[semantics.Request] >= 0 }

// countBefore numbers the requests of some calls that another one waits for, if all ranks count in
// the same way.
func (w *writer) countBefore(calls []*step, wait *step) {
	counts := make([]int64, len(w.ranks))
	var posts []*step
	room, differ := 0, false
	for _, s := range calls {
		if madeRequest(s) < 0 {
			continue
		}
		posts = append(posts, s)
		most := 0
		for row, b := range s.ranks {
			if b == nil {
				continue
			}
			if !counted(s, b, counts[row]) {
				return
			}
			counts[row] += int64(b.trips.same)
			most = max(most, int(b.trips.same))
		}
		if s.turns != nil {
			most, differ = maxTurns, true
		}
		room += most
	}
	for row, b := range wait.ranks {
		if !waited(wait, b, counts[row]) {
			return
		}
		differ = differ || counts[row] != counts[0]
	}
	if !differ || len(posts) == 0 {
		return
	}
	for _, s := range posts {
		s.counts = true
	}
	wait.counts = true
	w.handles[mpi.KindRequest].n = max(w.handles[mpi.KindRequest].n, int64(room))
	w.statusesOf = max(w.statusesOf, room)
	if !w.counting {
		w.counting = true
		w.counters = append(w.counters, "posted")
	}
}

// counted reports whether the calls of a visit have the requests from a number on.
func counted(s *step, b *behavior, from int64) bool {
	cycle := b.calls.cycle()
	if b.trips.list != nil || b.trips.same > 1 && !repeatsEachTime(len(cycle), b) {
		return false
	}
	trips := int64(b.trips.same)
	for k, id := range cycle {
		x := scalarIn(nth(true, madeRequest(s))(&s.vectors[id]))
		if want := from + int64(k)%max(1, trips); x.name != "" || x.number != want {
			return false
		}
	}
	return trips <= 1 || int64(len(cycle)) == trips
}

// waited reports whether a rank always waits for n requests, from the first one on.
func waited(wait *step, b *behavior, n int64) bool {
	if b == nil || b.trips.list != nil || b.trips.same != 1 {
		return b == nil && n == 0
	}
	for _, id := range b.calls.cycle() {
		list := nth(false, int(wait.meaning.In[semantics.Request]))(&wait.vectors[id]).values
		if int64(len(list)) != n {
			return false
		}
		for k, x := range list {
			if x.name != "" || x.number != int64(k) {
				return false
			}
		}
	}
	return true
}
