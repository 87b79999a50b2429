package trace

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// Clustering describes how the ranks of a run were clustered while it ran (Bahmani and Mueller,
// Chameleon, IPDPS 2018; docs/decisions/0060-online-clustering.md). At markers all ranks vote. If
// no rank's calls since the last marker differ from those before it, each behavior gets a lead
// rank. Until a rank's calls change, the other ranks record only the sums of the times between two
// markers; they record all calls and results. Cursor extrapolates the missing times from the
// lead's.
type Clustering struct {
	Votes []Vote // in order
}

// A Vote is the decision of the ranks at a marker.
type Vote struct {
	Explicit bool   // the marker is a call of MPI_Pcontrol(100); otherwise a blocking collective of all processes
	Ordinal  uint64 // of the marker among those of its kind, from 1
	State    VoteState
	Leads    []int // the lead ranks of VoteClustered, ascending
}

// VoteState is the outcome of a vote: the states of Chameleon's transition graph (its Figure 2).
type VoteState uint8

const (
	// VoteAll: a rank's calls have changed; all ranks record all times.
	VoteAll VoteState = iota
	// VoteClustered: no rank's calls have changed, and ranks were clustered; from here on only
	// leads record all times.
	VoteClustered
	// VoteLead: no rank knows of a change since the last vote; the leads continue.
	VoteLead
	// VoteEnded: not all ranks arrived at the marker in time; there are no further votes.
	VoteEnded
)

// String returns Chameleon's name of the state.
func (s VoteState) String() string {
	if int(s) < len(voteStates) {
		return voteStates[s]
	}
	return fmt.Sprintf("state %d", s)
}

var voteStates = []string{"all tracing", "clustering", "lead", "ended"}

// An Extrapolation is an interval of a thread, between two markers, whose times are extrapolated
// from a lead rank. The lead's thread of the same number made as many calls in the interval, of the
// same functions and from the same call sites.
type Extrapolation struct {
	Vote int // the later of the two votes, an index into Clustering.Votes; the earlier vote is Vote − 1
	Lead int // rank
	// Gap and Duration are the sums of the thread's own gaps and durations between the markers, in
	// ticks.
	Gap, Duration int64
}

// MaxExtrapolatedCalls bounds the calls of an interval whose times are extrapolated from a lead
// rank.
const MaxExtrapolatedCalls = 1 << 16

// interval returns the range [from, to) of the calls between a vote and the one before it.
func (t *Thread) interval(vote int) (from, to uint64, ok bool) {
	if vote < 1 || vote >= len(t.CallsAtVotes) {
		return 0, 0, false
	}
	return t.CallsAtVotes[vote-1], t.CallsAtVotes[vote], true
}

// An Overhead is tracer overhead: the tracer kept a thread for Ticks before a call (an index on the
// thread). This time is not computation of the program.
type Overhead struct {
	Call  uint64
	Ticks int64
}

// OverheadTicks is the sum of the tracer overhead in Overheads, in ticks.
func (t *Thread) OverheadTicks() (ticks int64) {
	for _, h := range t.Overheads {
		ticks += h.Ticks
	}
	return ticks
}

// overheads iterates over the tracer overhead of a thread.
type overheads []Overhead

// before returns the tracer overhead in ticks before a call. Calls must not decrease.
func (h *overheads) before(call uint64) (ticks int64) {
	for len(*h) > 0 && (*h)[0].Call <= call {
		if (*h)[0].Call == call {
			ticks += (*h)[0].Ticks
		}
		*h = (*h)[1:]
	}
	return ticks
}

// validateExtrapolations checks the markers, the tracer overhead and the extrapolations of a
// thread.
func (t *Thread) validateExtrapolations() error {
	for i, h := range t.Overheads {
		if h.Call > t.Calls || h.Ticks <= 0 || i > 0 && h.Call <= t.Overheads[i-1].Call {
			return fmt.Errorf("tracer overhead %d: %d ticks before call %d", i, h.Ticks, h.Call)
		}
	}
	for i, m := range t.CallsAtVotes {
		if m > t.Calls || i > 0 && m < t.CallsAtVotes[i-1] {
			return fmt.Errorf("marker %d at call %d", i, m)
		}
	}
	before := 0
	for i := range t.Extrapolations {
		s := &t.Extrapolations[i]
		from, to, ok := t.interval(s.Vote)
		switch {
		case !ok || s.Vote <= before || from == to || to-from > MaxExtrapolatedCalls:
			return fmt.Errorf("extrapolation %d at vote %d", i, s.Vote)
		case s.Lead < 0 || s.Lead == t.Rank || s.Gap < 0 || s.Duration < 0:
			return fmt.Errorf("extrapolation %d: lead %d, gap %d, duration %d", i, s.Lead, s.Gap, s.Duration)
		}
		before = s.Vote
	}
	return nil
}

// CallsExtrapolated returns the number of the thread's calls whose times are extrapolated.
func (t *Thread) CallsExtrapolated() uint64 {
	var n uint64
	for i := range t.Extrapolations {
		from, to, _ := t.interval(t.Extrapolations[i].Vote)
		n += to - from
	}
	return n
}

// extrapolations iterates over the extrapolated intervals of a thread.
type extrapolations struct {
	marks    []uint64
	list     []Extrapolation
	next     int // index into list of the first one that does not end before the latest call passed to at
	from, to uint64
}

func (t *Thread) extrapolations() extrapolations {
	return extrapolations{marks: t.CallsAtVotes, list: t.Extrapolations}
}

// within returns the number of calls from ≤ i < to whose times are extrapolated.
func (s extrapolations) within(from, to uint64) (n uint64) {
	for i := range s.list {
		a, b := max(from, s.marks[s.list[i].Vote-1]), min(to, s.marks[s.list[i].Vote])
		if a < b {
			n += b - a
		}
	}
	return n
}

// at reports whether the times of a call are extrapolated. Calls must not decrease.
func (s *extrapolations) at(call uint64) bool {
	for call >= s.to {
		if s.next == len(s.list) {
			return false
		}
		if s.to > 0 {
			if s.next++; s.next == len(s.list) {
				return false
			}
		}
		vote := s.list[s.next].Vote
		s.from, s.to = s.marks[vote-1], s.marks[vote]
	}
	return call >= s.from
}

// current returns the extrapolation of the latest call for which at was true.
func (s *extrapolations) current() *Extrapolation { return &s.list[s.next] }

// spread scales values so that they add up to sum. If all are 0 the last one gets the sum. It
// returns false if they cannot be scaled.
func spread(values []int64, sum int64) bool {
	var total uint64
	for i, v := range values {
		values[i] = max(v, 0)
		total += uint64(values[i])
		if total > math.MaxInt64 {
			return false
		}
	}
	if total == 0 {
		values[len(values)-1] = sum
		return true
	}
	var before, so uint64
	for i, v := range values {
		so += uint64(v)
		high, low := bits.Mul64(so, uint64(sum))
		share, _ := bits.Div64(high, low, total) // at most sum
		values[i] = int64(share - before)
		before = share
	}
	return true
}

// hasClustering reports whether there is anything to write.
func hasClustering(c *Content) bool {
	return c.Meta.Clustering != nil || slices.ContainsFunc(c.Threads.marks, func(m []uint64) bool { return len(m) > 0 }) ||
		slices.ContainsFunc(c.Threads.overheads, func(h []Overhead) bool { return len(h) > 0 })
}

// appendClustering writes the votes and, for each thread, its markers, extrapolations and tracer
// overhead.
func appendClustering(c *Content) []byte {
	s := newSection()
	s.Flag(c.Meta.Clustering != nil)
	var votes []Vote
	if c.Meta.Clustering != nil {
		votes = c.Meta.Clustering.Votes
	}
	n := len(votes)
	s.Number(uint64(n))
	s.Column(n, func(i int) int64 { return int64(votes[i].State) })
	s.Column(n, func(i int) int64 {
		if votes[i].Explicit {
			return 1
		}
		return 0
	})
	s.Column(n, func(i int) int64 { return int64(votes[i].Ordinal) })
	s.Column(n, func(i int) int64 { return int64(len(votes[i].Leads)) })
	var leads []int64
	for i := range votes {
		leads = append(leads, codec.Int64s(votes[i].Leads)...)
	}
	s.Sequence(leads)

	s.Number(uint64(c.Threads.Len()))
	threads := c.Threads.List()
	s.Column(len(threads), func(i int) int64 { return int64(len(threads[i].CallsAtVotes)) })
	var marks []int64
	for i := range threads {
		before := uint64(0)
		for _, m := range threads[i].CallsAtVotes {
			marks = append(marks, int64(m-before))
			before = m
		}
	}
	s.Sequence(marks)
	s.Column(len(threads), func(i int) int64 { return int64(len(threads[i].Extrapolations)) })
	for _, field := range extrapolationColumns {
		var all []int64
		for i := range threads {
			before := int64(0)
			for k := range threads[i].Extrapolations {
				v := field.get(&threads[i].Extrapolations[k])
				all = append(all, v-before)
				if field.differences {
					before = v
				}
			}
		}
		s.Sequence(all)
	}
	s.Column(len(threads), func(i int) int64 { return int64(len(threads[i].Overheads)) })
	var calls, ticks []int64
	for i := range threads {
		before := uint64(0)
		for _, h := range threads[i].Overheads {
			calls, ticks = append(calls, int64(h.Call-before)), append(ticks, h.Ticks)
			before = h.Call
		}
	}
	s.Sequence(calls)
	s.Sequence(ticks)
	return s.Bytes()
}

// extrapolationColumns are the fields of an Extrapolation in the order of the file.
var extrapolationColumns = []struct {
	differences bool
	get         func(*Extrapolation) int64
	set         func(*Extrapolation, int64)
}{
	{true, func(s *Extrapolation) int64 { return int64(s.Vote) }, func(s *Extrapolation, v int64) { s.Vote = int(v) }},
	{false, func(s *Extrapolation) int64 { return int64(s.Lead) }, func(s *Extrapolation, v int64) { s.Lead = int(v) }},
	{false, func(s *Extrapolation) int64 { return s.Gap }, func(s *Extrapolation, v int64) { s.Gap = v }},
	{false, func(s *Extrapolation) int64 { return s.Duration }, func(s *Extrapolation, v int64) { s.Duration = v }},
}

// rowsOf adds up a column of lengths of lists, whose rows take size bytes each in memory.
func (d *decoder) rowsOf(lengths []int64, size int64) int {
	total := int64(0)
	for _, n := range lengths {
		if n < 0 || n > math.MaxInt32 {
			d.Fail(codec.ErrNumber)
			return 0
		}
		total += n
	}
	if !d.Budget.Take(total * size) {
		d.Fail(codec.ErrMemory)
		return 0
	}
	return int(total)
}

// clustering reads what appendClustering wrote. The threads must have been read.
func (d *decoder) clustering(c *Content) {
	clustered := d.Flag()
	n := d.Rows(64)
	states, explicit, ordinals, leads := d.Column(n), d.Column(n), d.Column(n), d.Column(n)
	all := d.Column(d.rowsOf(leads, 8))
	if d.Err != nil {
		return
	}
	if clustered {
		c.Meta.Clustering = &Clustering{}
		if n > 0 {
			c.Meta.Clustering.Votes = make([]Vote, n)
		}
		for i := range c.Meta.Clustering.Votes {
			if states[i] < 0 || states[i] >= int64(len(voteStates)) || explicit[i] < 0 || explicit[i] > 1 || ordinals[i] < 0 {
				d.Fail(codec.ErrNumber)
				return
			}
			v := &c.Meta.Clustering.Votes[i]
			*v = Vote{Explicit: explicit[i] == 1, Ordinal: uint64(ordinals[i]), State: VoteState(states[i])}
			for _, lead := range all[:leads[i]] {
				if lead < 0 || lead > math.MaxInt32 {
					d.Fail(codec.ErrNumber)
					return
				}
				v.Leads = append(v.Leads, int(lead))
			}
			all = all[leads[i]:]
		}
	}
	n = c.Threads.Len()
	if d.Uvarint() != uint64(n) || !d.Budget.Take(int64(n)*48) {
		d.Fail(codec.ErrNumber)
		return
	}
	d.marks(c, n)
	d.extrapolations(c, n)
	d.overheads(c, n)
	if d.Err != nil {
		c.Threads.marks, c.Threads.extrapolations, c.Threads.overheads = nil, nil, nil
	}
}

func (d *decoder) marks(c *Content, n int) {
	c.Threads.marks = make([][]uint64, n)
	counts := d.Column(n)
	differences := d.Column(d.rowsOf(counts, 16))
	for i := range c.Threads.marks {
		if d.Err != nil {
			return
		}
		if counts[i] == 0 {
			continue
		}
		marks := make([]uint64, counts[i])
		at := int64(0)
		for k := range marks {
			if differences[k] < 0 || differences[k] > math.MaxInt64-at {
				d.Fail(codec.ErrNumber)
				return
			}
			at += differences[k]
			marks[k] = uint64(at)
		}
		c.Threads.marks[i], differences = marks, differences[counts[i]:]
	}
}

func (d *decoder) extrapolations(c *Content, n int) {
	c.Threads.extrapolations = make([][]Extrapolation, n)
	counts := d.Column(n)
	all := make([]Extrapolation, d.rowsOf(counts, 64))
	rest := all
	for i := range c.Threads.extrapolations {
		if d.Err != nil {
			return
		}
		if n := counts[i]; n > 0 {
			c.Threads.extrapolations[i], rest = rest[:n:n], rest[n:]
		}
	}
	for _, field := range extrapolationColumns {
		values := d.Column(len(all))
		for _, list := range c.Threads.extrapolations {
			before := int64(0)
			for k := range list {
				if d.Err != nil {
					return
				}
				v := before + values[0]
				values = values[1:]
				if field.differences {
					before = v
				}
				field.set(&list[k], v)
			}
		}
	}
}

func (d *decoder) overheads(c *Content, n int) {
	counts := d.Column(n)
	all := make([]Overhead, d.rowsOf(counts, 32))
	calls, ticks := d.Column(len(all)), d.Column(len(all))
	if d.Err != nil || len(all) == 0 {
		return
	}
	c.Threads.overheads = make([][]Overhead, n)
	for i := range c.Threads.overheads {
		list := all[:counts[i]:counts[i]]
		all = all[counts[i]:]
		before := int64(0)
		for k := range list {
			if calls[k] < 0 || calls[k] > math.MaxInt64-before {
				d.Fail(codec.ErrNumber)
				return
			}
			before += calls[k]
			list[k] = Overhead{uint64(before), ticks[k]}
		}
		c.Threads.overheads[i], calls, ticks = list, calls[len(list):], ticks[len(list):]
	}
}
