package timeline

// A Queue says whose turn it is: the location whose next call was entered first, the lower one of two that were entered at the
// same time, so that the order is the same in every run. It is a binary heap, and holds what it compares: 16 bytes a location stay
// in the cache where threads' states do not.
type Queue struct {
	turns  []turn
	places []int32 // by location: where its turn is
}

// A turn is when a location's next call was entered.
type turn struct {
	enter    int64
	location int32
}

// NewQueue makes an empty one for locations below a number.
func NewQueue(locations int) *Queue { return &Queue{places: make([]int32, locations)} }

// First is whose turn it is, and when its call was entered; false if nobody has one.
func (q *Queue) First() (location int, enter int64, any bool) {
	if len(q.turns) == 0 {
		return 0, 0, false
	}
	return int(q.turns[0].location), q.turns[0].enter, true
}

// Add gives a location that has none a turn.
func (q *Queue) Add(location int, enter int64) {
	q.turns = append(q.turns, turn{})
	q.up(len(q.turns)-1, turn{enter, int32(location)})
}

// Next gives a location another turn, most often a later one.
func (q *Queue) Next(location int, enter int64) {
	i, t := int(q.places[location]), turn{enter, int32(location)}
	if i > 0 && t.before(q.turns[(i-1)/2]) {
		q.up(i, t)
	} else {
		q.down(i, t)
	}
}

// Remove takes a location's turn away.
func (q *Queue) Remove(location int) {
	i, n := int(q.places[location]), len(q.turns)-1
	last := q.turns[n]
	q.turns = q.turns[:n]
	if i == n {
		return
	}
	q.places[last.location] = int32(i)
	q.turns[i] = last
	q.Next(int(last.location), last.enter)
}

func (a turn) before(b turn) bool {
	return a.enter < b.enter || a.enter == b.enter && a.location < b.location
}

func (q *Queue) put(i int, t turn) { q.turns[i], q.places[t.location] = t, int32(i) }

// up moves a turn from the i-th place to the one that it belongs to, in front of it.
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

// down moves a turn from the i-th place to the one that it belongs to, behind it.
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
