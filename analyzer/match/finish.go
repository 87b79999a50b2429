package match

import (
	"math"
	"sort"
)

// Finish ends the matching: it settles what is still open with what is known and returns what found no partner.
func (m *Matcher) Finish() []Leftover {
	if s, ok := m.handler.(Stopper); ok {
		s.Stopped(m.unreturned())
	}
	m.giveUp()
	for row := range m.ranks {
		r := &m.ranks[row]
		for _, q := range r.requests.all() {
			if q.active {
				m.completeRequest(q, nil, envelope{bytes: -1})
			}
		}
		for _, id := range sortedKeys(r.messages) {
			m.completeEnd(r.messages[id], nil, envelope{})
		}
		r.requests, r.messages = requestTable{}, nil
	}
	for _, at := range m.locks {
		m.grant(at, math.MaxInt64)
	}
	for i := range m.channels.slots {
		ch := &m.channels.slots[i]
		if ch.key.object != 0 {
			m.finishEpochs(ch)
			continue
		}
		for e := ch.sends.peek(); e != nil; e = ch.sends.peek() {
			ch.sends.drop()
			m.leftovers.add(Sent, &e.Post)
			m.known(e.Done)
		}
		for e := ch.receives.peek(); e != nil; e = ch.receives.peek() {
			ch.receives.drop()
			if !e.Probe {
				m.leftovers.add(Received, &e.Post)
			}
			m.knownArrivals(e)
			m.knownLooks(e)
			m.known(e.Done)
		}
	}
	for _, c := range m.pending {
		if !c.whole && c.arrived < c.expected {
			if c.Class != Startup && c.Class != Shutdown {
				for i := range c.Parts {
					if c.Parts[i].Present() {
						m.leftovers.add(Collected, &c.Parts[i].Post)
					}
				}
			}
			m.whole(c)
		}
	}
	return m.leftovers.sorted()
}

// finishEpochs tells of epochs whose partner never came; each is in two channels.
func (m *Matcher) finishEpochs(ch *channel) {
	for _, queue := range []*fifo{&ch.sends, &ch.receives} {
		for e := queue.peek(); e != nil; e = queue.peek() {
			queue.drop()
			if ch.key.tag != exposedToStart {
				m.leftovers.add(Lonely, &e.Post)
			}
			m.known(e.Done)
		}
	}
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return keys
}
