package simulate

// A Wait is a time that a rank spent in a call waiting for another rank. Kinds and times are those
// of Scalasca 2.5 (the documentation of its patterns). The names are those of package
// analyzer/waitstate.
type Wait struct {
	Rank  int
	Call  uint64 // index of the call on the rank
	Kind  string
	Cause int // the rank that was late
	NS    int64
}

// Kinds of waits.
const (
	LateSender     = "late sender"      // until the send was entered; with several messages, the longest wait
	LateReceiver   = "late receiver"    // until the receive was posted
	WaitAtNxN      = "wait at NxN"      // until the last rank had entered
	WaitAtBarrier  = "wait at barrier"  // the same
	WaitAtFinalize = "wait at finalize" // the same
	LateBroadcast  = "late broadcast"   // until the root had entered
	EarlyReduce    = "early reduce"     // at the root: until the first other rank had entered
)

func (r *Rank) blame(kind string, cause int, ns int64) {
	if ns > 0 && r.yield != nil {
		r.waits = append(r.waits, Wait{Rank: r.rank, Call: r.calls, Kind: kind, Cause: cause, NS: ns})
	}
}

// blameMessages determines which rank was waited for by the call that was entered at enter and ends
// now.
func (r *Rank) blameMessages(enter int64, awaited []*Request) {
	var sender, receiver *message
	var late, lateReceive int64
	for _, q := range awaited {
		m := q.message
		switch {
		case m == nil || m.bytes == 0:
			// messages without content do not make a late sender or receiver
		case q.receive:
			if w := min(m.sent, r.now) - enter; w > late {
				sender, late = m, w
			}
		case m.send == q:
			if w := min(m.received, r.now) - enter; w > lateReceive {
				receiver, lateReceive = m, w
			}
		}
	}
	if sender != nil {
		r.blame(LateSender, sender.source, late)
	}
	if receiver != nil {
		r.blame(LateReceiver, receiver.dest, lateReceive)
	}
}
