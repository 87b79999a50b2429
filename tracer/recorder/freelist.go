package recorder

// A freeList gives out dense ids, the smallest free one first, so that a loop that creates and frees the same objects
// sees the same ids again whatever the order in which it freed them.
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
