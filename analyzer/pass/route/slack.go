package route

import (
	"container/heap"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"math"
)

// Slack is the time by which a rank could be later without making the run longer, 0 on the critical
// path. It is computed backward, like the path:
//
//   - A location that ends e before the run does has slack e at its end.
//   - Before a wait of length w a location has w more than after it.
//   - Where another location waits for it, it has at most the slack of that one after the wait.
//
// MPI_Finalize, which all leave together, does not count. Messages that arrived before they were
// waited for bind the sender as well, but are ignored, so the result is an upper bound.
//
// The reported slack of a rank is the mean over the time in which it does not wait. The minimum
// would be meaningless: after the last collective every participant has none.

// lateness is the backward traversal of a location.
type lateness struct {
	waits    matching.BackwardWaits
	next     *matching.Wait
	location int
	slack    int64 // current value
	until    int64 // time down to which it has been traversed
	time     int64 // traversed time without waits
	sum      float64
}

// apply counts the current slack to the time back to from.
func (l *lateness) apply(from int64) {
	if d := l.until - from; d > 0 {
		l.time += d
		l.sum += float64(d) * float64(l.slack)
		l.until = from
	}
}

// laterFirst is a heap of locations, ordered by the end of their next wait, latest first.
type laterFirst []*lateness

func (h laterFirst) Len() int { return len(h) }
func (h laterFirst) Less(i, j int) bool {
	a, b := h[i], h[j]
	return a.next.End > b.next.End || a.next.End == b.next.End && a.location < b.location
}
func (h laterFirst) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *laterFirst) Push(x any)   { *h = append(*h, x.(*lateness)) }
func (h *laterFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// slack returns the slack of each location, averaged over its time; MaxInt64 for locations without
// calls.
func slack(f *matching.Result, end int64) []int64 {
	all := make([]lateness, len(f.Locations))
	var queue laterFirst
	for i := range all {
		l := &all[i]
		*l = lateness{waits: f.Waits[i].Backward(), location: i, slack: math.MaxInt64}
		if f.Extents[i].Empty {
			continue
		}
		l.slack, l.until = end-f.Extents[i].End, f.Extents[i].Last
		if l.next = l.waits.Before(math.MaxInt64); l.next != nil {
			queue = append(queue, l)
		}
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		l := queue[0]
		w := *l.next
		l.apply(w.End)
		if cause := &all[w.Cause]; l.slack < cause.slack {
			cause.apply(w.End)
			cause.slack = l.slack
		}
		l.slack += w.End - w.Begin
		l.until = w.Begin
		if l.next = l.waits.Before(math.MaxInt64); l.next != nil {
			heap.Fix(&queue, 0)
		} else {
			heap.Pop(&queue)
		}
	}
	result := make([]int64, len(all))
	for i := range all {
		l := &all[i]
		result[i] = math.MaxInt64
		if f.Extents[i].Empty {
			continue
		}
		l.apply(f.Extents[i].Start)
		if l.time > 0 {
			result[i] = int64(math.Round(l.sum / float64(l.time)))
		}
	}
	return result
}

// slackOf returns the slack of each rank by row, −1 if it is not known.
func slackOf(f *matching.Result, end int64, ranks int) []int64 {
	list := make([]int64, ranks)
	for row := range list {
		list[row] = -1
	}
	for i, s := range slack(f, end) {
		row := f.Locations[i].Row
		if s < math.MaxInt64 && (list[row] < 0 || s < list[row]) {
			list[row] = s
		}
	}
	return list
}
