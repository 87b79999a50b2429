package recorder

// requests are the live requests of the process and all request ids ever assigned
// (doc.go, "Requests").
type requests struct {
	table     *rawTable // raw handle -> −1 − constant, or index into queues
	queues    []requestQueue
	keyBytes  int // approximate size of the creators' keys
	maxQueues int // above this the empty ones are dropped
	creators  []creator
	byKey     map[string]int32 // creating signature -> index into creators
	ids       []requestID      // by id
	live      []liveRequest    // nodes of the queues
	freeNode  int32            // list of unused nodes, −1: none
	stamp     uint64           // number of the current call, see mention
	thread    uint32           // thread of that call
	count     int              // of live requests
	births    uint64           // of requests, ever
}

// A creator is a creating signature. Its slots are the requests that it created, by index.
type creator struct {
	key   string
	free  freeList
	slots []creatorSlot
}

type creatorSlot struct {
	id       int32
	terminal int32 // −1 until the call is looked up
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

func newRequests(table *rawTable) *requests {
	if table == nil {
		table = newRawTable()
	}
	return &requests{table: table, byKey: map[string]int32{}, freeNode: none, maxQueues: firstQueues}
}

// firstQueues is the number of raw handles above which handles without a live request are dropped.
// Most programs keep reusing a few raw handles.
const firstQueues = 1 << 10

// dropEmpty drops raw handles without a live request.
func (q *requests) dropEmpty() {
	table := newRawTable()
	q.table.each(func(key uint64, value int32) {
		if value < 0 {
			table.put(key, value)
		}
	})
	kept := q.queues[:0]
	for _, queue := range q.queues {
		if queue.head != none {
			table.put(queue.raw, int32(len(kept)))
			kept = append(kept, queue)
		}
	}
	q.table, q.queues = table, kept
	q.maxQueues = max(firstQueues, 2*len(kept))
}

// creatorOf returns the creator with this key, and adds a new one with a copy of key.
func (q *requests) creatorOf(key []byte) int32 {
	if c, ok := q.byKey[string(key)]; ok {
		return c
	}
	c := int32(len(q.creators))
	k := string(key)
	q.creators = append(q.creators, creator{key: k})
	q.byKey[k] = c
	q.keyBytes += len(k) + textBytes
	return c
}

// create makes a request of a creator live under its raw handle and returns its slot.
func (q *requests) create(c int32, raw uint64) *creatorSlot {
	cr := &q.creators[c]
	index := cr.free.take()
	if int(index) == len(cr.slots) {
		q.newSlot(c)
	}
	slot := &cr.slots[index]
	q.push(raw, slot.id)
	return slot
}

// newSlot gives a creator one more request.
func (q *requests) newSlot(c int32) {
	cr := &q.creators[c]
	q.ids = append(q.ids, requestID{creator: c, index: int32(len(cr.slots))})
	cr.slots = append(cr.slots, creatorSlot{id: int32(len(q.ids) - 1), terminal: none})
}

// push makes an id the youngest live request of a raw handle.
func (q *requests) push(raw uint64, id int32) {
	node := q.freeNode
	if node == none {
		node = int32(len(q.live))
		q.live = append(q.live, liveRequest{})
	} else {
		q.freeNode = q.live[node].next
	}
	q.count++
	q.births++
	q.live[node] = liveRequest{id: id, next: none, thread: q.thread, born: q.births}
	i, ok := q.table.get(raw)
	if !ok {
		if len(q.queues) >= q.maxQueues {
			q.dropEmpty()
		}
		i = int32(len(q.queues))
		q.queues = append(q.queues, requestQueue{raw: raw, head: none, tail: none, cursor: none})
		q.table.put(raw, i)
	}
	queue := &q.queues[i]
	if queue.tail == none {
		queue.head = node
	} else {
		q.live[queue.tail].next = node
	}
	queue.tail = node
}

// begin starts a call of a thread: the first occurrence of a raw handle refers to its oldest
// live request again.
func (q *requests) begin(thread uint32) {
	q.stamp++
	q.thread = thread
}

// resolve returns what a raw handle among the arguments of the call refers to: a constant
// (value < 0) or a request id. A handle whose creation was not seen gets an id of the creator with
// the empty key. If several requests share the handle, those of the calling thread come first:
// threads usually wait for their own requests, and the only thing that requests with a shared
// handle have in common is that the sends were small.
func (q *requests) resolve(raw uint64) int32 {
	if v, ok := q.known(raw); ok {
		return v
	}
	return q.create(q.creatorOf(nil), raw).id
}

// known is resolve for handles whose creation was seen; false for others.
func (q *requests) known(raw uint64) (int32, bool) {
	i, ok := q.table.get(raw)
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

// isNull reports whether raw is a predefined handle: there is only MPI_REQUEST_NULL.
func (q *requests) isNull(raw uint64) bool {
	i, ok := q.table.get(raw)
	return ok && i < 0
}

// end ends a live request id of raw.
func (q *requests) end(raw uint64, id int32) {
	i, ok := q.table.get(raw)
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
		q.live[node].next, q.live[node].born = q.freeNode, 0
		q.freeNode = node
		q.count--
		r := q.ids[id]
		q.creators[r.creator].free.give(r.index)
		return
	}
}
