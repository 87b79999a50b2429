package timeline

// A Queue is a priority queue of locations by the entry of their next call, then by location, so
// that the order is deterministic. It is a binary heap that contains its keys: with 16 bytes per
// location it stays in the cache, unlike the states of the threads.
type Queue struct {
	turns     []turn
	positions []int32 // by location: index of its turn
}

// A turn is the entry time of a location's next call.
type turn struct {
	enter    int64
	location int32
}

// NewQueue returns an empty queue for the given number of locations.
func NewQueue(locations int) *Queue { return &Queue{positions: make([]int32, locations)} }

// First returns the first location and its entry time. It reports false if the queue is empty.
func (q *Queue) First() (location int, enter int64, any bool) {
	if len(q.turns) == 0 {
		return 0, 0, false
	}
	return int(q.turns[0].location), q.turns[0].enter, true
}

// Add inserts a location, which must not be in the queue.
func (q *Queue) Add(location int, enter int64) {
	q.turns = append(q.turns, turn{})
	q.up(len(q.turns)-1, turn{enter, int32(location)})
}

// Next changes the time of a location, usually to a later one.
func (q *Queue) Next(location int, enter int64) {
	i, t := int(q.positions[location]), turn{enter, int32(location)}
	if i > 0 && t.before(q.turns[(i-1)/2]) {
		q.up(i, t)
	} else {
		q.down(i, t)
	}
}

// Remove removes a location.
func (q *Queue) Remove(location int) {
	i, n := int(q.positions[location]), len(q.turns)-1
	last := q.turns[n]
	q.turns = q.turns[:n]
	if i == n {
		return
	}
	q.positions[last.location] = int32(i)
	q.turns[i] = last
	q.Next(int(last.location), last.enter)
}

func (a turn) before(b turn) bool {
	return a.enter < b.enter || a.enter == b.enter && a.location < b.location
}

func (q *Queue) put(i int, t turn) { q.turns[i], q.positions[t.location] = t, int32(i) }

// up inserts a turn at index i or further to the front.
func (q *Queue) up(i int, t turn) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(q.turns[parent]) {
			break
		}
		q.put(i, q.turns[parent])
		i = parent
	}
	q.put(i, t)
}

// down inserts a turn at index i or further to the back.
func (q *Queue) down(i int, t turn) {
	for {
		least := 2*i + 1
		if least >= len(q.turns) {
			break
		}
		if r := least + 1; r < len(q.turns) && q.turns[r].before(q.turns[least]) {
			least = r
		}
		if !q.turns[least].before(t) {
			break
		}
		q.put(i, q.turns[least])
		i = least
	}
	q.put(i, t)
}
