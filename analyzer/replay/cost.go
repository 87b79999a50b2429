package replay

import "math/bits"

// A cost is what a call takes itself: local, counted from its entry, when nothing keeps it waiting; transfer, counted
// from what it depends on, when that comes late. A call in a trace shows one of the two: exit − entry, or exit −
// dependency. The other one, needed when the roles change in a scenario, is the least that calls of the same class have
// shown so far, and no more than leaves the call as long as it was.
type cost struct{ local, transfer int64 }

// costs are the least costs by class.
type costs map[class]cost

// A class is calls that should cost the same: of one function and call site, with messages of about one size.
type class struct {
	function uint16
	site     uint32
	size     uint8 // bits of the number of bytes
}

// unseen stands for a cost that no call has shown yet.
const unseen = 1<<63 - 1

func classOf(s *step) class {
	bytes := int64(0)
	for i := range s.depends {
		bytes = max(bytes, s.depends[i].bytes)
	}
	return class{s.function, s.site, uint8(bits.Len64(uint64(bytes)))}
}

// latest is the last of what the call depended on, and whether that kept it waiting.
func (s *step) latest() (at int64, waited bool) {
	at = s.begin
	for i := range s.depends {
		if d := s.depends[i].at; i == 0 || d > at {
			at = d
		}
	}
	return at, at > s.begin
}

// learn notes what a call shows, once all that it depends on is known.
func (c costs) learn(s *step) {
	if len(s.depends) == 0 {
		return
	}
	k := classOf(s)
	least, known := c[k]
	if !known {
		least = cost{unseen, unseen}
	}
	if at, waited := s.latest(); waited {
		least.transfer = min(least.transfer, s.exit-at)
	} else {
		least.local = min(least.local, s.exit-s.begin)
	}
	c[k] = least
}

// of is the cost of a call: as measured, it ends when it did.
func (c costs) of(s *step) cost {
	if len(s.depends) == 0 {
		return cost{local: s.exit - s.begin}
	}
	least := c[classOf(s)]
	at, waited := s.latest()
	if waited {
		local := int64(0)
		if least.local != unseen {
			local = min(least.local, s.exit-s.begin)
		}
		return cost{local, s.exit - at}
	}
	if least.transfer == unseen {
		least.transfer = s.exit - s.begin // the best guess there is
	}
	return cost{s.exit - s.begin, min(least.transfer, s.exit-at)}
}
