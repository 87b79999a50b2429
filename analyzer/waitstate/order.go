package waitstate

import "github.com/cairn-mpi/cairn/analyzer/match"

// Messages in the wrong order (Scalasca's "Late Sender, Wrong Order"): a receiver waited for a message, and one that it
// received only after that had been sent earlier. Taken in the order in which they were sent, the wait would have been
// shorter, or none.

// WrongOrder is how often and how long receivers waited so.
type WrongOrder struct {
	Count int
	NS    int64
}

// remembered is how many of its latest late senders a receiver is asked about. A message that was left for longer is
// not told: it was hardly the next one to take.
const remembered = 16

// recent are the latest late senders of a receiver that are not known to be out of order.
type recent struct {
	latest int64 // when the latest of the messages was sent
	next   int
	waits  [remembered]lateSender
}

type lateSender struct {
	sent   match.Stamp // when the message was that it waited for; 0: none
	ended  int64
	waited int64
	source int // location
}

// remember notes a wait for a late sender.
func (f *Finder) remember(s *State) {
	if s.Call.Message.At == 0 {
		return
	}
	r := f.receiver(s.Call.Location)
	r.waits[r.next] = lateSender{s.Call.Message, s.End, s.Waited(), s.Cause}
	r.next = (r.next + 1) % remembered
	r.latest = max(r.latest, s.Call.Message.At)
}

func (f *Finder) receiver(location int) *recent {
	for len(f.receivers) <= location {
		f.receivers = append(f.receivers, recent{})
	}
	return &f.receivers[location]
}

// ordered looks for waits of the receiver for a message that was sent later than one of this call, which came after it.
func (f *Finder) ordered(c *match.Completion) {
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
