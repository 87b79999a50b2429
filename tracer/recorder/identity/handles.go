package identity

import "math/bits"

// handles are the objects of one kind other than requests: raw handle -> −1 −
// constant, or symbolic id.
type handles struct {
	table map[uint64]int32
	ids   freeList
	raw   []uint64 // by id
	refs  []int32  // by id: how often MPI returned the handle; 0: the id is free

	changed   []int32 // ids that differ from the tables in the file
	isChanged []bool  // by id

	generation *uint64 // incremented on every change of the table (Objects.Generation)
}

// predefined reports whether a value of the table is a constant.
func predefined(value int32) bool { return value < 0 }

// create returns the value of a handle that a call returned and that must be freed.
func (h *handles) create(raw uint64) int32 {
	v, ok := h.table[raw]
	if ok {
		if !predefined(v) {
			h.refs[v]++
			h.change(v)
		}
		return v
	}
	*h.generation++
	id, free := h.ids.take()
	if !free {
		id = h.grow()
	}
	h.raw[id], h.refs[id] = raw, 1
	h.change(id)
	h.table[raw] = id
	return id
}

// grow adds an id.
func (h *handles) grow() int32 {
	h.raw, h.refs, h.isChanged = append(h.raw, 0), append(h.refs, 0), append(h.isChanged, false)
	return int32(len(h.raw) - 1)
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
	id, ok := h.table[raw]
	if !ok || predefined(id) {
		return -1
	}
	h.change(id)
	if h.refs[id]--; h.refs[id] > 0 {
		return -1
	}
	*h.generation++
	delete(h.table, raw)
	h.ids.give(id)
	return id
}

// A freeList has ids that are free again. The smallest one is taken first. So a loop that creates
// and frees the same objects gets the same ids in every iteration, in whatever order it frees them.
//
// It is levels of bits, so that nothing looks through all ids. The first level has a bit for each
// id. Each further level has a bit for each word of the level before it: whether that is not 0. The
// last level has one word.
type freeList [][]uint64

// take returns the smallest free id; false if there is none.
func (l freeList) take() (id int32, ok bool) {
	at := 0
	for level := len(l) - 1; level >= 0; level-- {
		word := l[level][at]
		if word == 0 {
			return 0, false
		}
		at, ok = 64*at+bits.TrailingZeros64(word), true
	}
	id = int32(at)
	for _, words := range l {
		word := &words[at/64]
		if *word &= *word - 1; *word != 0 {
			break
		}
		at /= 64
	}
	return id, ok
}

func (l *freeList) give(id int32) {
	at := int(id)
	for len(*l) == 0 || at>>(6*len(*l)) > 0 {
		top := uint64(0)
		if n := len(*l); n > 0 {
			top = min((*l)[n-1][0], 1)
		}
		*l = append(*l, []uint64{top})
	}
	for level := range *l {
		words := &(*l)[level]
		for at/64 >= len(*words) {
			*words = append(*words, 0)
		}
		word := &(*words)[at/64]
		before := *word
		if *word |= 1 << (at % 64); before != 0 {
			break
		}
		at /= 64
	}
}
