package identity

import "unsafe"

// Memory of a table entry in addition to its text: a slot at the usual load factor, and rounding up
// to an allocator size class.
const (
	EntryBytes = 48
	TextBytes  = 12
)

// Memory estimates the memory of all objects in bytes.
func (o *Objects) Memory() int {
	n := o.Requests.memory() + o.communicators.memory()
	for _, h := range o.handles {
		if h != nil {
			n += h.table.Memory() + 13*cap(h.raw) + 4*cap(h.changed)
		}
	}
	return n
}

func (q *Requests) memory() int {
	return q.table.Memory() + q.keyBytes + len(q.byKey)*EntryBytes + cap(q.ids)*(8+8+4) +
		cap(q.queues)*int(unsafe.Sizeof(requestQueue{})) + cap(q.live)*int(unsafe.Sizeof(liveRequest{})) +
		cap(q.creators)*int(unsafe.Sizeof(creator{}))
}

func (c *communicators) memory() int {
	n := c.nameBytes
	for i := range c.instances {
		k := &c.instances[i]
		n += int(unsafe.Sizeof(*k)) + 32*(len(k.Members)+len(k.Remote))
		n += len(k.GlobalName) + len(k.Label) + 2*TextBytes
	}
	return n
}

// Memory estimates the memory of a table in bytes.
func (t *Table) Memory() int { return 12 * len(t.keys) }
