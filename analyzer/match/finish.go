package match

import "sort"

// Finish ends the matching: it settles what is still open with what is known and returns what found no partner.
func (m *Matcher) Finish() []Leftover {
	for row := range m.ranks {
		r := &m.ranks[row]
		for _, id := range sortedKeys(r.requests) {
			if q := r.requests[id]; q.active {
				m.completeRequest(q, nil, &absent, 0)
			}
		}
		for _, id := range sortedKeys(r.messages) {
			m.completeEnd(r.messages[id], nil, envelope{}, false)
		}
		r.requests, r.messages = nil, nil
	}
	for _, ch := range m.channels {
		for e := ch.sends.peek(); e != nil; e = ch.sends.peek() {
			ch.sends.drop()
			m.leftovers.add(Sent, e.Post)
			m.known(e.Done)
		}
		for e := ch.receives.peek(); e != nil; e = ch.receives.peek() {
			ch.receives.drop()
			if !e.Probe {
				m.leftovers.add(Received, e.Post)
			}
			m.known(e.Done)
		}
	}
	for _, c := range m.pending {
		if !c.whole && c.arrived < c.expected {
			if c.Class != Startup && c.Class != Shutdown {
				for i := range c.Parts {
					if c.Parts[i].Present() {
						m.leftovers.add(Collected, c.Parts[i].Post)
					}
				}
			}
			m.whole(c)
		}
	}
	return m.leftovers.sorted()
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return keys
}
