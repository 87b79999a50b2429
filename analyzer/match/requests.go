package match

// A requestTable finds a rank's requests by their symbolic ids, which are dense: a slice, and a map for what a damaged
// trace may have instead.
type requestTable struct {
	dense  []request
	sparse map[int64]*request
}

const maxDense = 1 << 14

// get is valid until the next put; nil if there is none.
func (t *requestTable) get(id int64) *request {
	if uint64(id) < uint64(len(t.dense)) {
		if r := &t.dense[id]; r.there {
			return r
		}
		return nil
	}
	return t.sparse[id]
}

// put is a new one, valid until the next put.
func (t *requestTable) put(id int64) *request {
	if uint64(id) >= maxDense {
		if t.sparse == nil {
			t.sparse = map[int64]*request{}
		}
		r := &request{there: true}
		t.sparse[id] = r
		return r
	}
	for int64(len(t.dense)) <= id {
		t.dense = append(t.dense, request{})
	}
	r := &t.dense[id]
	*r = request{there: true}
	return r
}

func (t *requestTable) remove(id int64) {
	if uint64(id) < uint64(len(t.dense)) {
		t.dense[id] = request{}
	} else {
		delete(t.sparse, id)
	}
}

// all are the requests in the order of their ids.
func (t *requestTable) all() []*request {
	var list []*request
	for i := range t.dense {
		if r := &t.dense[i]; r.there {
			list = append(list, r)
		}
	}
	for _, id := range sortedKeys(t.sparse) {
		list = append(list, t.sparse[id])
	}
	return list
}

// anyActive reports whether an operation of the rank is under way.
func (t *requestTable) anyActive() bool {
	for i := range t.dense {
		if t.dense[i].active {
			return true
		}
	}
	for _, r := range t.sparse {
		if r.active {
			return true
		}
	}
	return false
}

func (t *requestTable) empty() bool {
	for i := range t.dense {
		if t.dense[i].there {
			return false
		}
	}
	return len(t.sparse) == 0
}
