package eventlog

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// Whether a message of some size makes a handshake (rendezvous) before its data comes, or comes at once (eager), is up to
// the implementation and its transport. It shows where the receiver comes late: the send has ended before, or not. Where
// the receiver is there already, a send takes two latencies with a handshake and hardly any time without one; what a
// latency is, small messages show whose receivers waited for them. Times are rounded, so that is their median.

// handshakeUnseen is from which size on messages are taken to make a handshake where no send has shown it: about what is
// the default on networks.
const handshakeUnseen = 1 << 16

// smallestHandshake is the class of the smallest messages that are asked about.
var smallestHandshake = bits.Len64(waitstate.EagerLimit)

// magnitudes counts times by their numbers of bits.
type magnitudes [65]int

func (m *magnitudes) see(ns int64) { m[bits.Len64(uint64(max(0, ns)))]++ }

// median is that of the numbers of bits; 0: there is none.
func (m *magnitudes) median() int {
	all, below := 0, 0
	for _, n := range m {
		all += n
	}
	for k, n := range m {
		if below += n; below > all/2 {
			return k
		}
	}
	return 0
}

// sending is what was seen of sends.
type sending struct {
	small magnitudes        // from the sending of small messages until they were received
	took  [sizes]magnitudes // by size: sends whose receivers were there
}

// see notes what a message shows.
func (r *Recorder) see(m *match.Message) {
	send, receive := m.Send, m.Receive
	if send.Mode != semantics.Standard || receive.Done == nil {
		return
	}
	if !large(m) {
		if receive.Done.Begin <= send.Post.Enter {
			r.sending.small.see(receive.Done.Exit - send.Post.Enter)
		}
		return
	}
	done, class := send.Done, bits.Len64(uint64(m.Bytes))
	if done == nil {
		return
	}
	if done.Enter != send.Post.Enter && done.Exit >= receive.Post.Enter {
		return // who knows what it was doing
	}
	asked, posted, sent := send.Post.EnterStamp(), receive.Post.EnterStamp(), done.ExitStamp()
	switch votes := &r.log.handshakes[class]; {
	case posted.After(sent):
		*votes--
	case !r.log.sends[done.Tag.(*completion).terminal]:
	case posted.After(asked) && sent.After(posted):
		*votes++
	default:
		r.sending.took[class].see(done.Exit - done.Enter)
	}
}

// vote counts what sends have shown whose receivers were there.
func (r *Recorder) vote() {
	latency := r.sending.small.median()
	if latency == 0 {
		return
	}
	for class := range r.sending.took {
		for took, n := range r.sending.took[class] {
			if took <= latency {
				n = -n
			}
			r.log.handshakes[class] += n
		}
	}
}

// kind is how a dependency's part in a handshake is written.
func (h handshake) kind() byte {
	kind := byte(onHandshake) | h.legs<<legsShift
	if h.own {
		kind |= ownCall
	}
	if h.always {
		kind |= alwaysShakes
	}
	if h.inert {
		kind |= isInert
	}
	return kind
}

// Handshakes tells from which size in bytes on messages make a handshake: the power of two that most of the sends agree
// with that have shown anything.
func (j *Log) Handshakes() int64 {
	agree := func(from int) (n int) {
		for class, votes := range j.handshakes {
			if class < from {
				votes = -votes
			}
			n += votes
		}
		return n
	}
	unseen := bits.Len64(handshakeUnseen)
	best := unseen
	for distance := range sizes {
		for _, from := range [...]int{unseen - distance, unseen + distance} {
			if from >= smallestHandshake && from < sizes-1 && agree(from) > agree(best) {
				best = from
			}
		}
	}
	return 1 << (best - 1)
}
