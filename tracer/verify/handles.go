package verify

import "fmt"

// A renaming is the correspondence between the trace's symbolic ids and MPI's handles of one kind
// in one process at one time. It is one-to-one among the objects that exist, except for requests:
// MPI gives several pending requests the same handle if they are complete at once, and the trace
// distinguishes them.
type renaming struct {
	shared bool // several ids may have one raw handle
	raw    map[int64]*object
	ids    map[int64]int // raw handle -> number of its live ids
	byRaw  map[int64]int64
}

type object struct {
	raw        int64
	references int // an object that was returned twice must be freed twice
}

func newRenaming(shared bool) *renaming {
	return &renaming{shared: shared, raw: map[int64]*object{}, ids: map[int64]int{}, byRaw: map[int64]int64{}}
}

// use checks a handle that was passed to a call. A handle whose creation was not seen is bound
// at its first use.
func (r *renaming) use(id, raw int64) error {
	if o := r.raw[id]; o != nil {
		if o.raw != raw {
			return fmt.Errorf("id %d is bound to handle %d", id, o.raw)
		}
		return nil
	}
	return r.bind(id, raw)
}

// create checks a handle that a call returned.
func (r *renaming) create(id, raw int64) error {
	o := r.raw[id]
	if o == nil {
		return r.bind(id, raw)
	}
	if o.raw != raw || r.shared {
		return fmt.Errorf("id %d is still bound to handle %d", id, o.raw)
	}
	o.references++
	return nil
}

func (r *renaming) bind(id, raw int64) error {
	if r.ids[raw] > 0 && !r.shared {
		return fmt.Errorf("handle %d still has id %d", raw, r.byRaw[raw])
	}
	r.raw[id] = &object{raw: raw, references: 1}
	r.ids[raw]++
	r.byRaw[raw] = id
	return nil
}

// free drops one reference.
func (r *renaming) free(id int64) {
	o := r.raw[id]
	if o == nil {
		return
	}
	if o.references--; o.references > 0 {
		return
	}
	delete(r.raw, id)
	r.ids[o.raw]--
}
