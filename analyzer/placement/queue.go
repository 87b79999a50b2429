package placement

// A queue is a heap of ranks: largest key first, then largest tie. Package container/heap would
// allocate every entry, and searches push millions.
type queue []entry

type entry struct {
	key, tie int64
	rank     int
}

// before reports whether a comes first. Different entries are never equal.
func (a *entry) before(b *entry) bool {
	if a.key != b.key {
		return a.key > b.key
	}
	if a.tie != b.tie {
		return a.tie > b.tie
	}
	return a.rank < b.rank
}

// order makes a heap of entries in any order.
func (q queue) order() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

func (q *queue) push(e entry) {
	*q = append(*q, e)
	h := *q
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// pop removes and returns the first entry of a non-empty queue.
func (q *queue) pop() entry {
	h := *q
	first, last := h[0], len(h)-1
	h[0] = h[last]
	*q = h[:last]
	if last > 0 {
		h[:last].down(0)
	}
	return first
}

// down moves an entry below those that come before it.
func (q queue) down(i int) {
	e := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if right := child + 1; right < len(q) && q[right].before(&q[child]) {
			child = right
		}
		if !q[child].before(&e) {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = e
}
