package match

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// shapes are those of the sections so far.
type shapes struct {
	latest []*shapeMember    // by location: of its latest section
	tried  [][]*shapeMember  // by location: some that it has calls in,
	oldest []uint8           // and which of them was added first
	known  map[uint64]*shape // by what the section's calls are; nil: it came once, as many do that never come again
	slots  int               // of all of them
}

const (
	// maxTried is how many shapes are tried before the section is looked for.
	maxTried = 8
	// maxShapeSlots bounds the memory for shapes, some 350 bytes a call, and maxShapes that for sections without one.
	maxShapeSlots = 1 << 18
	maxShapes     = 1 << 13
)

func newShapes(locations int) *shapes {
	return &shapes{
		latest: make([]*shapeMember, locations), tried: make([][]*shapeMember, locations), oldest: make([]uint8, locations),
		known: map[uint64]*shape{},
	}
}

// next is the shape of the section that begins with the next call of a location, nil if none is found at once. First comes the
// one that came the last time after the location's latest.
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

// came tells that a shape has come again.
func (s *shapes) came(one *shape) {
	for i := range one.members {
		m := &one.members[i]
		if latest := s.latest[m.location]; latest != nil {
			latest.next = m
		}
		s.latest[m.location] = m
	}
}

// of is the shape of the section that a closure has found, nil if it comes for the first time, and whether it was made now.
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

// try has a shape tried first from now on, in place of the one that was added first.
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

// forget gives all memory back.
func (s *shapes) forget() {
	clear(s.known)
	clear(s.latest)
	clear(s.tried)
	clear(s.oldest)
	s.slots = 0
}

// contentOf is a hash of what a section's calls are, apart from their times.
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
