package identity

import (
	"iter"
	"maps"
	"slices"
)

// Requests are the live requests of the process and all request ids ever assigned
// (doc.go, "Requests").
type Requests struct {
	table     map[uint64]int32 // raw handle -> −1 − constant, or index into queues
	queues    []requestQueue
	keyBytes  int // approximate size of the creators' keys
	maxQueues int // above this the empty ones are dropped
	creators  []creator
	byKey     map[string]int32 // creating signature -> index into creators
	ids       []requestID      // by id
	live      []liveRequest    // nodes of the queues
	unused    freeList         // nodes
	stamp     uint64           // number of the current call, see requestQueue
	thread    uint32           // thread of that call
	count     int              // of live requests
	births    uint64           // of requests, ever

	writtenCreators, writtenIDs int // number of those in the written tables
}

// A creator is a creating signature with the requests that it created, by index.
type creator struct {
	key      string
	free     freeList
	requests []Request
}

// A Request is one of the requests that a creating signature creates.
type Request struct {
	ID       int32
	Terminal int32 // of the calls that create it, −1: not known yet; the recorder sets it
}

// A requestID is the request with an id.
type requestID struct {
	creator, index int32
}

// A requestQueue holds the live ids of one raw handle, oldest first.
type requestQueue struct {
	raw        uint64
	head, tail int32 // nodes, −1: none
	// cursor is the node that the next occurrence of the raw handle refers to within the call with
	// this stamp: an array of requests may contain one raw handle several times, each time for
	// another request.
	cursor int32
	stamp  uint64
}

type liveRequest struct {
	id, next int32
	thread   uint32 // that created it
	born     uint64 // number of its creation, from 1; 0: the node is unused
}

const none = -1

func newRequests() Requests {
	return Requests{table: map[uint64]int32{}, byKey: map[string]int32{}, maxQueues: firstQueues}
}

// firstQueues is the number of raw handles above which handles without a live request are dropped.
// Most programs keep reusing a few raw handles.
const firstQueues = 1 << 10

// dropEmpty drops raw handles without a live request.
func (q *Requests) dropEmpty() {
	table := map[uint64]int32{} // a map that only deletes keeps its memory, which each pass goes over
	for raw, value := range q.table {
		if value < 0 {
			table[raw] = value
		}
	}
	kept := q.queues[:0]
	for _, queue := range q.queues {
		if queue.head != none {
			table[queue.raw] = int32(len(kept))
			kept = append(kept, queue)
		}
	}
	q.table, q.queues = table, kept
	q.maxQueues = max(firstQueues, 2*len(kept))
}

// Creator returns the creator with this key, and adds a new one with a copy of key.
func (q *Requests) Creator(key []byte) int32 {
	if c, ok := q.byKey[string(key)]; ok {
		return c
	}
	c := int32(len(q.creators))
	k := string(key)
	q.creators = append(q.creators, creator{key: k})
	q.byKey[k] = c
	q.keyBytes += len(k) + TextBytes
	return c
}

// HasCreator reports whether there is a creator with this key.
func (q *Requests) HasCreator(key []byte) bool {
	_, ok := q.byKey[string(key)]
	return ok
}

// Key returns the key of a creator.
func (q *Requests) Key(c int32) string { return q.creators[c].key }

// Keys returns the keys of all creators, in no order.
func (q *Requests) Keys() iter.Seq[string] { return maps.Keys(q.byKey) }

// SetTerminal sets the terminal of the request with an id and returns the key of its creator; false
// if there is no such request.
func (q *Requests) SetTerminal(id, terminal int32) (key string, ok bool) {
	if id < 0 || int(id) >= len(q.ids) {
		return "", false
	}
	c := &q.creators[q.ids[id].creator]
	c.requests[q.ids[id].index].Terminal = terminal
	return c.key, true
}

// Create makes the free request of a creator with the smallest index live under its raw handle.
func (q *Requests) Create(c int32, raw uint64) *Request {
	cr := &q.creators[c]
	index, free := cr.free.take()
	if !free {
		index = q.grow(c)
	}
	request := &cr.requests[index]
	q.push(raw, request.ID)
	return request
}

// grow gives a creator one more request and returns its index.
func (q *Requests) grow(c int32) (index int32) {
	cr := &q.creators[c]
	index = int32(len(cr.requests))
	cr.requests = append(cr.requests, Request{ID: int32(len(q.ids)), Terminal: none})
	q.ids = append(q.ids, requestID{creator: c, index: index})
	return index
}

// push makes an id the youngest live request of a raw handle.
func (q *Requests) push(raw uint64, id int32) {
	node, free := q.unused.take()
	if !free {
		node = int32(len(q.live))
		q.live = append(q.live, liveRequest{})
	}
	q.count++
	q.births++
	q.live[node] = liveRequest{id: id, next: none, thread: q.thread, born: q.births}
	i, ok := q.table[raw]
	if !ok {
		if len(q.queues) >= q.maxQueues {
			q.dropEmpty()
		}
		i = int32(len(q.queues))
		q.queues = append(q.queues, requestQueue{raw: raw, head: none, tail: none, cursor: none})
		q.table[raw] = i
	}
	queue := &q.queues[i]
	if queue.tail == none {
		queue.head = node
	} else {
		q.live[queue.tail].next = node
	}
	queue.tail = node
}

// Begin starts a call of a thread: the first occurrence of a raw handle refers to its oldest
// live request again.
func (q *Requests) Begin(thread uint32) {
	q.stamp++
	q.thread = thread
}

// Resolve returns what a raw handle among the arguments of the call refers to: a constant
// (value < 0) or a request id. A handle whose creation was not seen gets an id of the creator with
// the empty key. If several requests share the handle, those of the calling thread come first:
// threads usually wait for their own requests, and the only thing that requests with a shared
// handle have in common is that the sends were small.
func (q *Requests) Resolve(raw uint64) int32 {
	if v, ok := q.Known(raw); ok {
		return v
	}
	return q.Create(q.Creator(nil), raw).ID
}

// Known is Resolve for handles whose creation was seen; false for others.
func (q *Requests) Known(raw uint64) (int32, bool) {
	i, ok := q.table[raw]
	if ok && i < 0 {
		return i, true
	}
	if !ok || q.queues[i].head == none {
		return 0, false
	}
	queue := &q.queues[i]
	if queue.head == queue.tail { // the usual case: only one candidate
		return q.live[queue.head].id, true
	}
	if queue.stamp != q.stamp {
		queue.stamp, queue.cursor = q.stamp, queue.head
	}
	node := queue.cursor
	for node != none && q.live[node].thread != q.thread {
		node = q.live[node].next
	}
	if node == none {
		node = queue.cursor
	}
	if node == none {
		node = queue.tail // more occurrences than requests: an error of the program
	} else {
		queue.cursor = q.live[node].next
	}
	return q.live[node].id, true
}

// Null returns the value of a predefined handle, of which there is only MPI_REQUEST_NULL; false if
// raw is none.
func (q *Requests) Null(raw uint64) (value int32, ok bool) {
	value, ok = q.table[raw]
	return value, ok && value < 0
}

// Complete ends the requests that a call completed or freed. It is given their raw handles before
// and after the call, and their ids. An ended request is MPI_REQUEST_NULL afterwards; a completed
// persistent one is not.
func (q *Requests) Complete(before, after []uint64, ids []int32) {
	for k := range min(len(before), len(after), len(ids)) {
		if ids[k] < 0 {
			continue
		}
		if _, null := q.Null(after[k]); null {
			q.end(before[k], ids[k])
		}
	}
}

// end ends a live request id of raw.
func (q *Requests) end(raw uint64, id int32) {
	i, ok := q.table[raw]
	if !ok || i < 0 {
		return
	}
	queue := &q.queues[i]
	before := int32(none)
	for node := queue.head; node != none; node = q.live[node].next {
		if q.live[node].id != id {
			before = node
			continue
		}
		next := q.live[node].next
		if before == none {
			queue.head = next
		} else {
			q.live[before].next = next
		}
		if queue.tail == node {
			queue.tail = before
		}
		if queue.cursor == node {
			queue.cursor = next
		}
		q.live[node].born = 0
		q.unused.give(node)
		q.count--
		r := q.ids[id]
		q.creators[r.creator].free.give(r.index)
		return
	}
}

// Live returns the number of live requests.
func (q *Requests) Live() int { return q.count }

// A Snapshot has the live requests at one time.
type Snapshot []birth

type birth struct {
	node int32
	born uint64
}

// Snapshot returns the live requests, in the memory of s.
func (q *Requests) Snapshot(s Snapshot) Snapshot {
	s = s[:0]
	for i := 0; len(s) < q.count; i++ {
		if born := q.live[i].born; born != 0 {
			s = append(s, birth{int32(i), born})
		}
	}
	return s
}

// Same reports whether the live requests are those of a snapshot.
func (q *Requests) Same(s Snapshot) bool {
	return len(s) == q.count && !slices.ContainsFunc(s, func(b birth) bool { return q.live[b.node].born != b.born })
}
