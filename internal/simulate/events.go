package simulate

import "container/heap"

// An event is something that happens at a time.
type event struct {
	at      int64
	nth     uint64 // number among all events: events at the same time happen in the order in which they were created
	kind    eventKind
	rank    *Rank
	message *message
	request *Request
}

type eventKind uint8

const (
	resumes   eventKind = iota // a rank continues
	arrives                    // a message arrives
	completes                  // a request completes
)

// events are a heap by time.
type events struct {
	heap eventHeap
	made uint64
}

func (e *events) push(ev event) {
	ev.nth = e.made
	e.made++
	heap.Push(&e.heap, ev)
}

func (e *events) pop() event { return heap.Pop(&e.heap).(event) }

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].nth < h[j].nth
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = event{}
	*h = old[:len(old)-1]
	return last
}
