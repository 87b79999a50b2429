package identity

import "unsafe"

// Memory of a table entry in addition to its text: a slot at the usual load factor, and rounding up
// to an allocator size class.
const (
	EntryBytes = 48
	TextBytes  = 12
	WordBytes  = 24 // of a table of words
)

// Memory estimates the memory of all objects in bytes.
func (o *Objects) Memory() int {
	n := o.Requests.memory() + o.communicators.memory()
	for _, h := range o.handles {
		if h != nil {
			// a map keeps the memory of its largest extent
			n += WordBytes*max(len(h.table), len(h.raw)) + 13*cap(h.raw) + 4*cap(h.changed)
		}
	}
	return n
}

func (q *Requests) memory() int {
	return WordBytes*len(q.table) + q.keyBytes + len(q.byKey)*EntryBytes + cap(q.ids)*(8+8+4) +
		cap(q.queues)*int(unsafe.Sizeof(requestQueue{})) + cap(q.live)*int(unsafe.Sizeof(liveRequest{})) +
		cap(q.creators)*int(unsafe.Sizeof(creator{}))
}

func (c *communicators) memory() int {
	n := 0
	for name := range c.nth {
		n += len(name) + TextBytes + EntryBytes
	}
	for i := range c.instances {
		k := &c.instances[i]
		n += int(unsafe.Sizeof(*k)) + 32*(len(k.Members)+len(k.Remote))
		n += len(k.GlobalName) + len(k.Label) + 2*TextBytes
	}
	return n
}
