package online

import "github.com/cairn-mpi/cairn/trace"

// A Ballot is the summary of a rank's calls in an interval that it contributes to the vote on it.
type Ballot struct {
	Signature uint64 // hash of its calls: functions, call sites and their order, per thread
	Unchanged bool   // they equal those of the previous interval, and so on up to the last decision
	Period    int    // number of blocking collectives of all processes in one iteration of the program; 0: unknown
	Calls     uint64 // of the thread with the most
}

// Ballot returns the rank's ballot about the interval that a cut ended; ok is false if it was not
// the latest cut, or has its outcome. timed reports that single calls have times; without them
// another rank's times cannot be used for them.
func (c *Clustering) Ballot(cut uint64, threads []Thread, timed bool) (b Ballot, ok bool) {
	if c == nil || !c.pending || cut != uint64(len(c.votes)) {
		return Ballot{}, false
	}
	b = Ballot{Unchanged: timed, Period: period(c.strides)}
	for _, t := range threads {
		closed := &t.Tally.closed
		b.Calls = max(b.Calls, closed.calls)
		b.Unchanged = b.Unchanged && t.Tally.unchanged(c.mode)
		if closed.calls > 0 {
			b.Signature = Mix(Mix(Mix(b.Signature, uint64(t.Number)+1), closed.calls), closed.behavior)
		}
	}
	b.Unchanged = b.Unchanged && b.Calls > 0
	return b, true
}

// unchanged reports whether the closed interval equals the one before it, and that the one before
// it if that is still to be decided.
func (y *Tally) unchanged(m Mode) bool {
	n, b := &y.closed, &y.before
	return !y.broken && n.calls == b.calls && n.behavior == b.behavior && (m.IgnoreArguments || n.exact == b.exact) &&
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
