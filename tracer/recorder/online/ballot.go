package online

import "github.com/cairn-mpi/cairn/trace"

// A Ballot is the summary of a rank's calls that it contributes to the vote at a marker.
type Ballot struct {
	Signature uint64 // hash of its calls since the last marker: functions, call sites and their order, per thread
	Unchanged bool   // they equal those of the previous interval
	Period    int    // number of blocking collectives of all processes in one iteration of the program; 0: unknown
	Calls     uint64 // since the last marker, of the thread with the most
}

// Ballot returns the rank's ballot at the latest marker. It is zero for a process
// without clustering.
func (c *Clustering) Ballot() Ballot {
	if c == nil {
		return Ballot{}
	}
	return c.ballot
}

// makeBallot makes the ballot for the closed interval. timed reports that single calls have times;
// without them another rank's times cannot be used for them.
func (c *Clustering) makeBallot(threads []Thread, timed bool) Ballot {
	b := Ballot{Unchanged: timed, Period: period(c.strides)}
	for _, t := range threads {
		closed := &t.Tally.closed
		b.Calls = max(b.Calls, closed.calls)
		b.Unchanged = b.Unchanged && t.Tally.unchanged(c.mode)
		if closed.calls > 0 {
			b.Signature = Mix(Mix(Mix(b.Signature, uint64(t.Number)+1), closed.calls), closed.behavior)
		}
	}
	b.Unchanged = b.Unchanged && b.Calls > 0
	return b
}

// unchanged reports whether the closed interval equals the one before it.
func (y *Tally) unchanged(m Mode) bool {
	n, b := &y.closed, &y.before
	return n.calls == b.calls && n.behavior == b.behavior && (m.IgnoreArguments || n.exact == b.exact) &&
		!n.nested && n.calls <= trace.MaxExtrapolatedCalls && n.gap >= 0 && n.duration >= 0
}

// maxStrides is the number of strides that are kept. A period can be found up to half of it.
const maxStrides = 256

// period returns the least p such that the last strides repeat with period p, at least twice and
// over more than half of all known strides or 32 of them; 0 if there is none. Early in a run most
// strides belong to the program's initialization.
func period(strides []uint64) int {
	n := len(strides)
	for p := 1; 3*p <= n; p++ {
		same := 2 * p
		if n > 3*p {
			same = min(n-p, max(same, min(n/2, 32)))
		}
		repeats := true
		for i := n - same; i < n && repeats; i++ {
			repeats = strides[i] == strides[i-p]
		}
		if repeats {
			return p
		}
	}
	return 0
}
