package match

import (
	"math"
	"sort"
)

// Finish ends the matching: it settles everything that is still open and returns the operations
// that found no partner.
func (m *Matcher) Finish() []Leftover {
	if s, ok := m.handler.(Stopper); ok {
		s.Stopped(m.unreturned(m.stopped))
	}
	if s, ok := m.handler.(Poller); ok {
		s.Tested(m.tested(s.Polled()))
	}
	m.abandonStopped()
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
			m.resolve(e.Done)
		}
		for e := ch.receives.peek(); e != nil; e = ch.receives.peek() {
			ch.receives.drop()
			if !e.Probe {
				m.leftovers.add(Received, &e.Post)
			}
			m.settleArrivals(e)
			m.settleQueries(e)
			m.resolve(e.Done)
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
			m.allEntered(c)
		}
	}
	return m.leftovers.sorted()
}

// finishEpochs reports epochs whose partner never came. Each of them is in two channels.
func (m *Matcher) finishEpochs(ch *channel) {
	for _, queue := range []*fifo{&ch.sends, &ch.receives} {
		for e := queue.peek(); e != nil; e = queue.peek() {
			queue.drop()
			if ch.key.tag != exposedToStart {
				m.leftovers.add(UnmatchedEpoch, &e.Post)
			}
			m.resolve(e.Done)
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

// A Leftover counts the operations of one kind that found no partner, at one call site of one rank.
type Leftover struct {
	What     What
	Row      int // index into Trace.Ranks
	Function uint16
	Site     uint32
	Count    int
}

// What is the reason why an operation has no partner.
type What string

// Reasons for a missing partner.
const (
	Sent           What = "send without receive"
	Received       What = "receive without send"
	Collected      What = "collective that some ranks never entered"
	UnknownSender  What = "wildcard receive whose sender is not known"
	EnteredTwice   What = "collective entered twice by one rank"
	UnmatchedEpoch What = "one-sided epoch without a counterpart"
	sentAway       What = "send to a rank that the trace lacks"
	fromAbsent     What = "receive from a rank that the trace lacks"
)

// leftovers counts operations without a partner.
type leftovers map[Leftover]int

func (l *leftovers) add(what What, at *Point) {
	if *l == nil {
		*l = leftovers{}
	}
	(*l)[Leftover{What: what, Row: at.Row, Function: at.Function, Site: at.Site}]++
}

func (l *leftovers) absent(at *Point, what What) {
	if what == Sent {
		l.add(sentAway, at)
	} else {
		l.add(fromAbsent, at)
	}
}

func (l *leftovers) unknownSender(at *Point) { l.add(UnknownSender, at) }

func (l *leftovers) enteredTwice(at *Point) { l.add(EnteredTwice, at) }

func (l leftovers) sorted() []Leftover {
	list := make([]Leftover, 0, len(l))
	for k, n := range l {
		k.Count = n
		list = append(list, k)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.What != b.What {
			return a.What < b.What
		}
		if a.Row != b.Row {
			return a.Row < b.Row
		}
		if a.Function != b.Function {
			return a.Function < b.Function
		}
		return a.Site < b.Site
	})
	return list
}
