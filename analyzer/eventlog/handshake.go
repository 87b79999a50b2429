package eventlog

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// Whether messages of a given size make a handshake (rendezvous) before the data, or are sent at
// once (eager), depends on the implementation and its transport. It can be observed in two cases:
//
//   - The receiver is late: the send has ended before, or not.
//   - The receiver is ready: a send takes two latencies with a handshake and hardly any time
//     without. The latency is measured with small messages whose receivers waited for them. Because
//     times are rounded, their median is used.

// handshakeUnseen is the size from which on messages are assumed to make a handshake if no send has
// shown it. It is about the default on networks.
const handshakeUnseen = 1 << 16

// smallestHandshake is the size class of the smallest messages that are considered.
var smallestHandshake = bits.Len64(waitstate.EagerLimit)

// magnitudes is a histogram of times by bit length.
type magnitudes [65]int

func (m *magnitudes) see(ns int64) { m[bits.Len64(uint64(max(0, ns)))]++ }

// median returns the median bit length, 0 if there is none.
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

// sending collects measurements of sends.
type sending struct {
	small magnitudes        // time from the send of small messages until they were received
	took  [sizes]magnitudes // by size class: durations of sends whose receivers were ready
}

// see evaluates a message.
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
		return // the sender may have been doing anything
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

// vote evaluates the durations of sends whose receivers were ready.
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

// kind returns the encoded kind of a dependency in a handshake.
func (h handshake) kind() byte {
	kind := byte(onHandshake) | h.legs<<legsShift
	if h.own {
		kind |= ownCall
	}
	if h.always {
		kind |= alwaysHandshake
	}
	if h.inert {
		kind |= isInert
	}
	return kind
}

// Handshakes returns the size in bytes from which on messages make a handshake: the power of two
// that agrees with most of the sends that have shown anything.
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
