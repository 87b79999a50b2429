package predict

import "github.com/cairn-mpi/cairn/analyzer/eventlog"

// posts finds the calls of one thread that others depend on, by their ordinals, from the first
// reference to a call until its last dependent has been replayed.
type posts struct {
	pushed uint32 // ordinal of the latest call
	first  uint32 // ordinal of the first slot
	slots  []*event
	empty  int               // number of empty slots at the front
	old    map[uint32]*event // those needed for longer than others
}

// maxSlots is the maximum distance between the first needed call and the last one, before the first
// counts as old.
const maxSlots = 1024

// post returns the entry of the thread's next posted call; nil if nothing depends on it.
func (p *player) post(of *posts, dependents int) *event {
	of.pushed++
	if dependents == 0 {
		of.trim()
		return nil
	}
	m := p.event(of, of.pushed)
	if m.uses += dependents; dependents == eventlog.Kept {
		m.uses = 1 << 30
	}
	return m
}

// event returns the entry of a call, which may not have happened yet.
func (p *player) event(of *posts, ordinal uint32) *event {
	if of.first == 0 {
		of.first = 1
	}
	if ordinal < of.first {
		return of.old[ordinal]
	}
	for int(ordinal-of.first) >= len(of.slots) {
		of.slots = append(of.slots, nil)
	}
	slot := &of.slots[ordinal-of.first]
	if *slot == nil {
		of.empty = min(of.empty, int(ordinal-of.first))
		if n := len(p.freed); n > 0 {
			*slot = p.freed[n-1]
			p.freed = p.freed[:n-1]
		} else {
			*slot = new(event)
		}
		(*slot).left = 1
	}
	return *slot
}

// used records that a call that depends on others was replayed.
func (p *player) used(s *step) {
	for i := range s.depends {
		p.usedOnce(&s.depends[i])
	}
	for i := range s.inert {
		p.usedOnce(&s.inert[i])
	}
	for i := range s.handshakes {
		p.usedOnce(&s.handshakes[i])
	}
}

func (p *player) usedOnce(d *dependency) {
	if d.post.Ordinal == 0 {
		return
	}
	if d.on.uses--; d.on.uses > 0 {
		return
	}
	of := &p.threads[d.post.Location].posts
	if d.post.Ordinal < of.first {
		delete(of.old, d.post.Ordinal)
	} else {
		of.slots[d.post.Ordinal-of.first] = nil
		of.trim()
	}
	*d.on = event{at: d.on.at[:0], waiting: d.on.waiting[:0], feeds: d.on.feeds[:0]}
	p.freed = append(p.freed, d.on)
}

// trim removes slots at the front that are not needed any more.
func (o *posts) trim() {
	n := o.empty
	for n < len(o.slots) && o.first+uint32(n) <= o.pushed && (o.slots[n] == nil || len(o.slots)-n > maxSlots) {
		if m := o.slots[n]; m != nil {
			if o.old == nil {
				o.old = map[uint32]*event{}
			}
			o.old[o.first+uint32(n)] = m
		}
		n++
	}
	o.empty = n
	if len(o.slots) == 0 {
		o.first = o.pushed + 1
		return
	}
	if n == len(o.slots) || n > 16 {
		o.first += uint32(n)
		o.slots, o.empty = o.slots[:copy(o.slots, o.slots[n:])], 0
	}
}
