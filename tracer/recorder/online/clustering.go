package online

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/trace"
)

const none = -1

// A Clustering is the clustering state of a process; nil if every rank is recorded on its own.
type Clustering struct {
	mode    Mode
	codes   []uint64 // by terminal: hash of function and call site, equal on all ranks; 0: not known yet
	votes   []trace.Vote
	lead    int  // lead rank of this rank's cluster; none: it has none
	follows bool // another rank leads: times are buffered until the next vote
	pending bool // the outcome of a vote is pending: times are buffered, whoever leads
	// strides are hashes of the calls between two blocking collectives of all processes,
	// the latest ones.
	strides []uint64
}

// New returns the initial state of a process with this mode; nil if the process does not take
// part in clustering.
func New(mode string) *Clustering {
	m, err := ParseMode(mode)
	if err != nil || !m.Clustered {
		return nil
	}
	return &Clustering{mode: m, lead: none}
}

// Votes returns the votes so far, in order.
func (c *Clustering) Votes() []trace.Vote { return slices.Clone(c.votes) }

// Pending reports whether the outcome of the vote on a closed interval is pending.
func (c *Clustering) Pending() bool { return c.pending }

// Code returns the part of a terminal that is compared between ranks; 0: the terminal was
// not described yet.
func (c *Clustering) Code(terminal int32) uint64 {
	if int(terminal) < len(c.codes) {
		return c.codes[terminal]
	}
	return 0
}

// Describe computes the code of a terminal from its function and its call path, innermost frame
// first. It ignores the outermost frames that may differ between ranks (Mode.Frames), but never
// the innermost one.
func (c *Clustering) Describe(terminal int32, function uint64, path []*trace.Site) uint64 {
	text := binary.AppendUvarint(nil, function)
	for _, s := range path[:max(min(len(path), 1), len(path)-c.mode.Frames)] {
		text = fmt.Appendf(text, "%s %s %d %s %d\n", s.BuildID, s.Module, s.Offset, s.File, s.Line)
	}
	for int(terminal) >= len(c.codes) {
		c.codes = append(c.codes, 0)
	}
	c.codes[terminal] = xxhash.Sum64(text) | 1
	return c.codes[terminal]
}

// Missing returns the number of votes between the last known one and vote; these have no record. ok
// is false if vote cannot be the number of a vote.
func (c *Clustering) Missing(vote uint64) (n uint64, ok bool) {
	known := uint64(len(c.votes))
	if vote > maxVotes || vote < known || vote-known > maxMissing {
		return 0, false
	}
	return vote - known, true
}

// Cut closes the interval of all threads; the outcome of the vote on it is then pending.
func (c *Clustering) Cut(threads []Thread) {
	for _, t := range threads {
		y := t.Tally
		for len(y.marks) < len(c.votes) { // the thread is new
			y.marks = append(y.marks, 0)
		}
		y.marks = append(y.marks, t.Calls)
		y.closed, y.now = y.now, Interval{}
	}
	c.pending = true
}

// A Decision is the consequence of a vote's outcome for the threads of a process.
type Decision struct {
	vote      int // number
	lead      int // before the vote
	leadTimes bool
	factor    int
	mode      Mode
	undecided bool // not all ranks had an answer
	// Follows reports that another rank leads from now on: the times of this one are buffered
	// until the next vote.
	Follows bool
}

// Decide applies an outcome; nil if its record is missing: then it decides nothing that this rank
// knows. The caller must then call Settle for each thread.
func (c *Clustering) Decide(o *Outcome, rank int) Decision {
	undecided := o == nil || o.Vote.State == trace.VoteLead && !o.LeadTimes
	if o == nil {
		o = &noOutcome
	}
	d := Decision{vote: len(c.votes), lead: c.lead, leadTimes: o.LeadTimes && c.follows, factor: o.Factor, mode: c.mode, undecided: undecided}
	c.votes = append(c.votes, o.Vote)
	c.lead, c.follows, c.pending = o.Lead, o.Lead >= 0 && o.Lead != rank, false
	d.Follows = c.follows
	return d
}

// Settle ends the vote for a thread whose interval was closed. waiting is the number of calls
// whose times are buffered. It reports whether these times are dropped because the lead's times
// are used instead.
func (d *Decision) Settle(y *Tally, waiting uint64) (extrapolated bool) {
	closed := &y.closed
	if waiting > 0 && d.leadTimes && y.unchanged(d.mode) && waiting == closed.calls && d.vote > 0 && len(y.marks) > d.vote &&
		y.marks[d.vote]-y.marks[d.vote-1] == closed.calls {
		y.extrapolations = append(y.extrapolations, trace.Extrapolation{Vote: d.vote, Lead: d.lead, Gap: closed.gap, Duration: closed.duration})
		extrapolated = true
	}
	y.broken = d.undecided && !y.unchanged(d.mode)
	y.before, y.closed = y.closed, Interval{}
	y.before.repeat(d.factor)
	return extrapolated
}
