package online

import "github.com/cairn-mpi/cairn/trace"

// A Ballot is what a rank says at a marker.
type Ballot struct {
	Signature uint64 // of its calls since the last marker: functions, call sites and their order, per thread
	Unchanged bool   // they are as between the two markers before
	Period    int    // in blocking collectives of all processes: how many of them make one turn of the program; 0: unknown
	Calls     uint64 // since the last marker, of the thread with most
}

// Ballot is what the rank says at the marker that it came to last. The zero value is that of a process without clustering.
func (c *Clustering) Ballot() Ballot {
	if c == nil {
		return Ballot{}
	}
	return c.ballot
}

// cast is the ballot on the interval that was closed. timed says that single calls have times, without which no other rank's
// can stand for them.
func (c *Clustering) cast(threads []Thread, timed bool) Ballot {
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

// unchanged reports whether the interval that was closed is as the one before.
func (y *Tally) unchanged(m Mode) bool {
	n, b := &y.closed, &y.before
	return n.calls == b.calls && n.behavior == b.behavior && (m.IgnoreArguments || n.exact == b.exact) &&
		!n.nested && n.calls <= trace.MaxExtrapolatedCalls && n.gap >= 0 && n.duration >= 0
}

// maxStrides bounds the strides, and so the period that can be found to a half of it.
const maxStrides = 256

// period is the least p such that the last strides repeat after p of them, at least twice and over half of all strides that
// are known, or 32 of them; 0 if there is none. At first most strides are those of the program's beginning.
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
