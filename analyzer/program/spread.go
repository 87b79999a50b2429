package program

import "fmt"

// A spread summarizes varying numbers: minimum, maximum, and the number of distinct ones.
type spread struct {
	known       bool // there are numbers
	least, most int64
	distinct    map[int64]struct{} // nil once there are too many
	many        bool
	unknown     bool // there are others, which are unknown
}

// maxDistinct is the maximum number of distinct numbers that are counted.
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

// include adds an atom; false: it is not a number. An atom that varies in an unknown way makes the
// whole spread unknown.
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

// text returns " (8 to 4096, 17 values)", without the number of values if it is unknown or all
// numbers of the range occur; "" if nothing is known.
func (s *spread) text() string {
	switch {
	case !s.known || s.unknown:
		return ""
	case s.many || uint64(len(s.distinct)) == uint64(s.most-s.least)+1:
		return fmt.Sprintf(" (%d to %d)", s.least, s.most)
	}
	return fmt.Sprintf(" (%d to %d, %d values)", s.least, s.most, len(s.distinct))
}
