package waitstate

import "github.com/cairn-mpi/cairn/analyzer/match"

// Messages in the wrong order (Scalasca's "Late Sender, Wrong Order"): a receiver waited for a
// message and only then received one that had been sent earlier. If it had received them in the
// order in which they were sent, the wait would have been shorter or absent.

// WrongOrder is the number and duration of such waits.
type WrongOrder struct {
	Count int
	NS    int64
}

// maxRecent is the number of latest late senders of a receiver that are considered. A message that
// was left for longer was hardly the next one to take and is not reported.
const maxRecent = 16

// recent is the latest waits of a receiver for late senders that are not known to be out of order.
type recent struct {
	latest int64 // send time of the latest of the messages
	next   int
	waits  [maxRecent]lateSender
}

type lateSender struct {
	sent   match.Stamp // send time of the message that it waited for; 0: none
	ended  int64
	waited int64
	source int // location
}

// remember records a wait for a late sender.
func (f *Finder) remember(s *State) {
	if s.Call.Message.At == 0 {
		return
	}
	r := f.receiver(s.Call.Location)
	r.waits[r.next] = lateSender{s.Call.Message, s.End, s.Waited(), s.Cause}
	r.next = (r.next + 1) % maxRecent
	r.latest = max(r.latest, s.Call.Message.At)
}

func (f *Finder) receiver(location int) *recent {
	for len(f.receivers) <= location {
		f.receivers = append(f.receivers, recent{})
	}
	return &f.receivers[location]
}

// findWrongOrder finds earlier waits of the receiver for a message that was sent later than one
// received by this call.
func (f *Finder) findWrongOrder(c *match.Completion) {
	r := f.receiver(c.Location)
	if r.latest <= c.Oldest.At {
		return
	}
	for i := range r.waits {
		w := &r.waits[i]
		if !w.sent.After(c.Oldest) || w.ended > c.Enter {
			continue
		}
		which := 1
		if w.source == c.Source {
			which = 0
		}
		f.WrongOrder[which].Count++
		f.WrongOrder[which].NS += w.waited
		*w = lateSender{}
	}
}
