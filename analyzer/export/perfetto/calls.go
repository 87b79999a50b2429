package perfetto

import (
	"container/heap"
)

// calls writes calls as slices, in order of time, and their messages as flows.
//
// Perfetto sorts events by time, and keeps the order of the file for equal times. It makes an arrow
// of a flow by these rules (flow_tracker.cc and track_event_parser.cc of its trace processor):
//
//   - A flow begins with the first event that names it, and is then at that event's slice. For an
//     end event, that is the slice that ends.
//   - An event that terminates a flow makes an arrow between the slice where the flow is and its
//     own. If the flow has not begun, nothing happens, and the message is lost.
//   - Since version 52 the arrow goes from the slice that begins first to the other one, whichever
//     sent.
//
// So a flow begins at the begin of its send, and terminates at the end of its receive, because a
// late sender begins in between. Then the receive began first and would be taken for the source: so
// the flow terminates at an instant event, the last one in the receive. Among events of equal time,
// ends come after the begins of other threads. No receive ends before its send begins, since
// package causality has corrected the times. The package does not correct everything (the order in
// which ranks got a lock is derived from times). In that case, the flow begins at the end of the
// receive, which is valid, and points backward.
type calls struct {
	packets *packets
	flows   *flows
	time    func(int64) int64 // converts to the time in the file

	now     int64
	tied    []opening // calls entered at the current time, in order
	last    []int32   // index in tied + 1, by location
	endings endings
	open    [][]*ending // by location, the innermost last
	begun   uint64
}

// maxTied bounds the calls that wait for others of the same time. In traces without times all calls
// have the same time.
const maxTied = 1 << 16

// An opening is a call whose slice begins.
type opening struct {
	call     call
	slice    slice
	sent     []uint64
	previous int32 // the previous call of the same thread and time, as an index + 1
	state    state
}

type state uint8

const (
	waiting state = iota
	opens
	opened
)

// An ending is the end of a slice, to be written when that time is reached.
type ending struct {
	at, begin int64
	nth       uint64 // among all slices: of two that end at the same time, the later one ends first
	track     uint64
	received  []uint64
	written   bool
}

func newCalls(p *packets, f *flows, locations int, time func(int64) int64) *calls {
	return &calls{packets: p, flows: f, time: time, last: make([]int32, locations), open: make([][]*ending, locations)}
}

// add adds the next call, which must not have been entered earlier than the one before.
func (s *calls) add(c call, show slice) {
	if len(s.tied) > 0 && (c.enter > s.now || len(s.tied) == maxTied) {
		s.flush()
	}
	s.now = c.enter
	o := opening{call: c, slice: show, sent: take(s.flows.sent, c), previous: s.last[c.location]}
	s.tied = append(s.tied, o)
	s.last[c.location] = int32(len(s.tied))
	for _, id := range o.sent {
		s.flows.of(id).opening = int32(len(s.tied))
	}
}

func (s *calls) finish() {
	s.flush()
	for s.endings.Len() > 0 {
		s.end(s.endings[0])
	}
}

// flush writes the ends before now, and the begins at now.
func (s *calls) flush() {
	for s.endings.Len() > 0 && (s.endings[0].at < s.now || s.endings[0].written) {
		s.end(s.endings[0])
	}
	for i := range s.tied {
		s.begin(i)
	}
	for i := range s.tied {
		s.last[s.tied[i].call.location] = 0
		for _, id := range s.tied[i].sent {
			s.flows.of(id).opening = 0
		}
	}
	clear(s.tied)
	s.tied = s.tied[:0]
}

// begin writes the begin of a call's slice. Before it come the ends at the same time on its thread,
// and before these the sends of messages received there, if they are entered at the same time, too.
// If calls wait for each other in a cycle, the first stays first.
func (s *calls) begin(i int) {
	o := &s.tied[i]
	if o.state != waiting {
		return
	}
	if o.previous > 0 {
		if s.begin(int(o.previous - 1)); s.tied[o.previous-1].state != opened {
			return // it waits for this one, which comes first
		}
	}
	o.state = opens
	for n := len(s.open[o.call.location]); n > 0; n = len(s.open[o.call.location]) {
		top := s.open[o.call.location][n-1]
		if top.at > s.now {
			break
		}
		for _, id := range top.received {
			if sender := s.flows.of(id).opening; sender > 0 {
				s.begin(int(sender - 1))
			}
		}
		s.end(top)
	}
	show := arrows{}
	for _, id := range o.sent {
		m := s.flows.of(id)
		if m.begun {
			show.terminate = append(show.terminate, id)
		} else {
			show.begin = append(show.begin, id)
		}
		m.begun = true
	}
	s.packets.begin(&o.slice, show)
	s.later(o)
	o.state = opened
}

// later schedules the end of a slice: not later than that of the enclosing one.
func (s *calls) later(o *opening) {
	s.begun++
	x := &ending{at: o.call.exit, begin: o.call.enter, nth: s.begun, track: o.slice.track, received: take(s.flows.received, o.call)}
	within := s.open[o.call.location]
	if n := len(within); n > 0 {
		x.at = min(x.at, within[n-1].at)
	}
	s.open[o.call.location] = append(within, x)
	heap.Push(&s.endings, x)
}

// end writes the end of a slice, unless it is written already.
func (s *calls) end(x *ending) {
	if len(s.endings) > 0 && s.endings[0] == x {
		heap.Pop(&s.endings)
	}
	if x.written {
		return
	}
	x.written = true
	location := x.track - firstTrack
	s.open[location] = s.open[location][:len(s.open[location])-1]
	var here, late arrows
	for _, id := range x.received {
		m := s.flows.of(id)
		switch {
		case !m.begun:
			here.begin = append(here.begin, id)
			m.begun = true
		case s.time(m.sent) > s.time(x.begin):
			late.terminate = append(late.terminate, id)
		default:
			here.terminate = append(here.terminate, id)
		}
	}
	if len(late.terminate) > 0 {
		s.packets.instant(x.track, s.time(x.at), "received", late)
	}
	s.packets.end(x.track, s.time(x.at), here)
}

// endings is a heap.Interface.
type endings []*ending

func (e endings) Len() int { return len(e) }
func (e endings) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].nth > e[j].nth
}
func (e endings) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *endings) Push(x any) { *e = append(*e, x.(*ending)) }

// Pop implements heap.Interface.
func (e *endings) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return x
}
