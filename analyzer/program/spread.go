package program

import "fmt"

// A spread is what is known of numbers that vary: the least, the most, and how many there are.
type spread struct {
	known       bool // there are numbers
	least, most int64
	distinct    map[int64]struct{} // nil once there are too many
	many        bool
	unknown     bool // there are others, of which nothing is known
}

// maxDistinct bounds the distinct numbers that are counted.
const maxDistinct = 1 << 12

func (s *spread) add(x int64) {
	if !s.known {
		s.known, s.least, s.most, s.distinct = true, x, x, map[int64]struct{}{}
	}
	s.least, s.most = min(s.least, x), max(s.most, x)
	if s.many {
		return
	}
	if s.distinct[x] = struct{}{}; len(s.distinct) > maxDistinct {
		s.distinct, s.many = nil, true
	}
}

// join adds the numbers of another spread.
func (s *spread) join(o *spread) {
	s.unknown = s.unknown || o.unknown
	if !o.known {
		return
	}
	s.add(o.least)
	s.add(o.most)
	s.many = s.many || o.many
	for x := range o.distinct {
		s.add(x)
	}
	if s.many {
		s.distinct = nil
	}
}

// include adds what an atom is; false: it is no number. What varies in a way that is not known makes all of it unknown.
func (s *spread) include(a *atom) bool {
	switch {
	case a.varies != nil && !a.varies.known:
		s.unknown = true
	case a.varies != nil:
		s.join(a.varies)
	case a.isNumber:
		s.add(a.number)
	default:
		return false
	}
	return true
}

// text is " (8 to 4096, 17 values)"; the number of values is left out where it is not known or where all that lie between
// are there. "" if nothing is known.
func (s *spread) text() string {
	switch {
	case !s.known || s.unknown:
		return ""
	case s.many || uint64(len(s.distinct)) == uint64(s.most-s.least)+1:
		return fmt.Sprintf(" (%d to %d)", s.least, s.most)
	}
	return fmt.Sprintf(" (%d to %d, %d values)", s.least, s.most, len(s.distinct))
}
