package match

// A requestTable maps symbolic ids to a rank's requests. The ids are dense and stored in a slice;
// the map is for the ids of corrupt traces.
type requestTable struct {
	dense  []request
	sparse map[int64]*request
}

const maxDense = 1 << 14

// get returns a request, nil if there is none. The pointer is valid until the next put.
func (t *requestTable) get(id int64) *request {
	if uint64(id) < uint64(len(t.dense)) {
		if r := &t.dense[id]; r.inUse {
			return r
		}
		return nil
	}
	return t.sparse[id]
}

// put adds a request. The pointer is valid until the next put.
func (t *requestTable) put(id int64) *request {
	if uint64(id) >= maxDense {
		if t.sparse == nil {
			t.sparse = map[int64]*request{}
		}
		r := &request{inUse: true}
		t.sparse[id] = r
		return r
	}
	for int64(len(t.dense)) <= id {
		t.dense = append(t.dense, request{})
	}
	r := &t.dense[id]
	*r = request{inUse: true}
	return r
}

func (t *requestTable) remove(id int64) {
	if uint64(id) < uint64(len(t.dense)) {
		t.dense[id] = request{}
	} else {
		delete(t.sparse, id)
	}
}

// all returns the requests, ordered by id.
func (t *requestTable) all() []*request {
	var list []*request
	for i := range t.dense {
		if r := &t.dense[i]; r.inUse {
			list = append(list, r)
		}
	}
	for _, id := range sortedKeys(t.sparse) {
		list = append(list, t.sparse[id])
	}
	return list
}

// anyActive reports whether an operation of the rank is pending.
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
		if t.dense[i].inUse {
			return false
		}
	}
	return len(t.sparse) == 0
}
