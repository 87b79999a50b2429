package identity

// handles are the objects of one kind other than requests: raw handle -> −1 −
// constant, or symbolic id.
type handles struct {
	table *Table
	ids   freeList
	raw   []uint64 // by id
	refs  []int32  // by id: how often MPI returned the handle; 0: the id is free

	changed   []int32 // ids that differ from the tables in the file
	isChanged []bool  // by id

	generation *uint64 // incremented on every change of the table (Objects.Generation)
}

func newHandles(table *Table, generation *uint64) *handles {
	if table == nil {
		table = NewTable()
	}
	return &handles{table: table, generation: generation}
}

// predefined reports whether a value of the table is a constant.
func predefined(value int32) bool { return value < 0 }

// use returns the value of a handle that was passed to a call. A handle whose creation was
// not seen (an extension of the MPI library or another language's layer created it) gets an
// id at its first use.
func (h *handles) use(raw uint64) int32 {
	if v, ok := h.table.Get(raw); ok {
		return v
	}
	return h.create(raw)
}

// create returns the value of a handle that a call returned and that must be freed.
func (h *handles) create(raw uint64) int32 {
	v, ok := h.table.Get(raw)
	if ok {
		if !predefined(v) {
			h.refs[v]++
			h.change(v)
		}
		return v
	}
	*h.generation++
	id := h.ids.take()
	if int(id) == len(h.raw) {
		h.grow()
	}
	h.raw[id], h.refs[id] = raw, 1
	h.change(id)
	h.table.Put(raw, id)
	return id
}

// grow adds room for one more id.
func (h *handles) grow() {
	h.raw, h.refs, h.isChanged = append(h.raw, 0), append(h.refs, 0), append(h.isChanged, false)
}

// change marks an object as changed since the tables were written.
func (h *handles) change(id int32) {
	if !h.isChanged[id] {
		h.isChanged[id] = true
		h.changed = append(h.changed, id)
	}
}

// free drops one reference. It returns the id if that was the last reference, else −1.
func (h *handles) free(raw uint64) int32 {
	id, ok := h.table.Get(raw)
	if !ok || predefined(id) {
		return -1
	}
	h.change(id)
	if h.refs[id]--; h.refs[id] > 0 {
		return -1
	}
	*h.generation++
	h.refs[id] = 0
	h.table.remove(raw)
	h.ids.give(id)
	return id
}

// A freeList allocates dense ids, the smallest free one first. So a loop that creates and frees the
// same objects gets the same ids in every iteration, in whatever order it frees them.
type freeList struct {
	next int32
	heap []int32 // freed ids below next, a binary heap
}

func (l *freeList) take() int32 {
	n := len(l.heap)
	if n == 0 {
		l.next++
		return l.next - 1
	}
	id := l.heap[0]
	last := l.heap[n-1]
	l.heap = l.heap[:n-1]
	n--
	if n == 0 {
		return id
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && l.heap[c+1] < l.heap[c] {
			c++
		}
		if last <= l.heap[c] {
			break
		}
		l.heap[i] = l.heap[c]
		i = c
	}
	l.heap[i] = last
	return id
}

func (l *freeList) give(id int32) {
	i := len(l.heap)
	l.heap = append(l.heap, id)
	for i > 0 {
		parent := (i - 1) / 2
		if l.heap[parent] <= id {
			break
		}
		l.heap[i] = l.heap[parent]
		i = parent
	}
	l.heap[i] = id
}
