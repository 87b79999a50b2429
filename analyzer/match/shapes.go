package match

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// shapes are the shapes of the sections so far.
type shapes struct {
	latest []*shapeMember    // by location: member of its latest section
	tried  [][]*shapeMember  // by location: some candidates
	oldest []uint8           // and the index of the oldest one
	known  map[uint64]*shape // by contentOf; nil: the section came once, as many do that never come again
	slots  int               // total number of slots
}

const (
	// maxTried is the number of candidate shapes of a location that are tried before the closure is
	// computed.
	maxTried = 8
	// maxShapeSlots bounds the memory for shapes (about 350 bytes per call), maxShapes that for
	// sections without a shape.
	maxShapeSlots = 1 << 18
	maxShapes     = 1 << 13
)

func newShapes(locations int) *shapes {
	return &shapes{
		latest: make([]*shapeMember, locations), tried: make([][]*shapeMember, locations), oldest: make([]uint8, locations),
		known: map[uint64]*shape{},
	}
}

// next returns the shape of the section that begins with the next call of a location, nil if no
// candidate fits. It first tries the one that followed the location's latest shape the last time.
func (s *shapes) next(location int, ahead *timeline.Ahead[packed, *reader], m *Matcher) *shape {
	if latest := s.latest[location]; latest != nil && latest.next != nil && latest.next.fits(ahead, m) {
		return latest.next.shape
	}
	for _, one := range s.tried[location] {
		if one.fits(ahead, m) {
			return one.shape
		}
	}
	return nil
}

// occurred records an occurrence of a shape.
func (s *shapes) occurred(one *shape) {
	for i := range one.members {
		m := &one.members[i]
		if latest := s.latest[m.location]; latest != nil {
			latest.next = m
		}
		s.latest[m.location] = m
	}
}

// of returns the shape of the section that a closure has found, nil if the section came for the
// first time, and reports whether the shape was made by this call.
func (s *shapes) of(c *closure) (one *shape, made bool) {
	if c.calls > maxShapeSlots {
		return nil, false
	}
	key := contentOf(c)
	one, again := s.known[key]
	if one == nil || !one.members[0].fits(c.ahead, c.matcher) {
		if len(s.known) >= maxShapes || s.slots > maxShapeSlots {
			s.forget()
		}
		s.known[key] = nil
		if !again {
			return nil, false
		}
		one, made = newShape(c), true
		s.slots += len(one.slots)
		s.known[key] = one
		if !one.members[0].fits(c.ahead, c.matcher) { // a call is inside another one
			return nil, true
		}
	}
	for i := range one.members {
		s.try(&one.members[i])
	}
	return one, made
}

// try adds a candidate, in place of the oldest one if there are maxTried.
func (s *shapes) try(m *shapeMember) {
	tried := &s.tried[m.location]
	if len(*tried) < maxTried {
		*tried = append(*tried, m)
		return
	}
	oldest := &s.oldest[m.location]
	(*tried)[*oldest] = m
	*oldest = (*oldest + 1) % maxTried
}

// forget drops all shapes.
func (s *shapes) forget() {
	clear(s.known)
	clear(s.latest)
	clear(s.tried)
	clear(s.oldest)
	s.slots = 0
}

// contentOf returns a hash of a section's calls without their times.
func contentOf(c *closure) uint64 {
	d, b := xxhash.New(), []byte(nil)
	for _, m := range c.members {
		b = binary.LittleEndian.AppendUint64(b, uint64(m.location)<<32|uint64(m.calls))
		for taken := 0; taken < m.calls; {
			run := c.ahead.From(int(m.location), taken)
			n := min(len(run.Calls), m.calls-taken)
			for i := range run.Calls[:n] {
				b = run.Calls[i].Made.appendContent(b, run.By)
			}
			if len(b) > 1<<16 {
				_, _ = d.Write(b)
				b = b[:0]
			}
			taken += n
		}
	}
	_, _ = d.Write(b)
	return d.Sum64()
}
