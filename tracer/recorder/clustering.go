package recorder

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Clustering while the process runs (docs/decisions/0060-online-clustering.md). At a marker the shim writes a record that
// ends an interval, asks for the rank's Ballot, and lets the ranks vote; at a later marker it writes the outcome, as a record
// too: so the recorder's state follows from records alone, as ever, and a recovery finds the same. Of an interval in which
// another rank leads, the times wait in a column of their own: the outcome of the vote on it says whether only their sums
// are kept (trace.StandIn) or they are.

// ModeSettings say how a process takes part in clustering: process.json's mode.
type ModeSettings struct {
	Clustered bool
	// IgnoreArguments: calls have not changed if functions and call sites have not (Chameleon's parameter filter).
	IgnoreArguments bool
	// Frames is how many of the outermost frames of a call path may differ. (ScalaTrace II's approximate matching lets any
	// so many differ, as `cairn clusters` does; that is no equivalence, so ranks could not agree on it by hashes.)
	Frames int
	// WaitSeconds is how long the shim waits at a marker for the other ranks before it gives clustering up.
	WaitSeconds int
}

// DefaultWaitSeconds is how long a rank waits at a marker where nothing else is said.
const DefaultWaitSeconds = 60

// String writes what ParseMode reads.
func (m ModeSettings) String() string {
	if !m.Clustered {
		return "full"
	}
	text := "clustered"
	if m.IgnoreArguments {
		text += " arguments=ignored"
	}
	if m.Frames > 0 {
		text += fmt.Sprintf(" frames=%d", m.Frames)
	}
	if m.WaitSeconds != DefaultWaitSeconds {
		text += fmt.Sprintf(" wait=%d", m.WaitSeconds)
	}
	return text
}

// ParseMode reads "full" (or nothing) or "clustered", which settings may follow: arguments=ignored, frames=N (of a call
// path, 0 to 64), wait=SECONDS (1 to 3600).
func ParseMode(text string) (ModeSettings, error) {
	words := strings.Fields(text)
	m := ModeSettings{WaitSeconds: DefaultWaitSeconds}
	if len(words) == 0 || len(words) == 1 && words[0] == "full" {
		return m, nil
	}
	if words[0] != "clustered" {
		return m, fmt.Errorf("the mode is full or clustered, not %q", words[0])
	}
	m.Clustered = true
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		switch {
		case word == "arguments=ignored":
			m.IgnoreArguments = true
		case name == "frames" && err == nil && n >= 0 && n <= 64:
			m.Frames = n
		case name == "wait" && err == nil && n >= 1 && n <= 3600:
			m.WaitSeconds = n
		default:
			return m, fmt.Errorf("clustered is followed by arguments=ignored, frames=0 to 64 or wait=1 to 3600, not %q", word)
		}
	}
	return m, nil
}

// clustering is what a process knows of it; nil where every rank is recorded by itself.
type clustering struct {
	settings ModeSettings
	codes    []uint64 // by terminal: function and call site, equal on all ranks; 0: not known yet
	votes    []trace.Vote
	lead     int  // of this rank's behaviour, none: it has none
	follows  bool // another rank leads: times wait for the next vote
	awaited  bool // the outcome of a vote is: times wait, whoever leads
	said     Ballot
	// strides are hashes of what was called from one blocking collective of all processes to the next, the last ones.
	strides []uint64
}

// mostStrides bounds the strides, and so the period that can be seen to a half of it.
const mostStrides = 256

// An interval is what a thread has called since the last marker.
type interval struct {
	calls      uint64
	behaviour  uint64 // hash of functions and call sites, in order
	exact      uint64 // hash of terminals, in order
	gap        int64  // sums
	duration   int64
	nested     bool // some call was nested in another one
	times      waiting
	overflowed bool // and so its times did not wait to the end
}

// waiting are times of which it is not decided yet whether they are kept.
type waiting struct{ gaps, durations column }

// A tally is an interval, the one that a vote is under way on, and what that is compared with.
type tally struct {
	now, closed, before interval // before without times
	stride              uint64
	marks               []uint64
	standIns            []trace.StandIn
	holds               []trace.Hold
}

func newClustering(text string) *clustering {
	settings, err := ParseMode(text)
	if err != nil || !settings.Clustered {
		return nil
	}
	return &clustering{settings: settings, lead: none}
}

// code is what of the calls of a terminal is compared between ranks.
func (c *clustering) code(r *Recorder, number int32) uint64 {
	for int(number) >= len(c.codes) {
		c.codes = append(c.codes, 0)
	}
	if c.codes[number] == 0 {
		c.codes[number] = c.describe(r, r.signatures.terminals[number])
	}
	return c.codes[number]
}

func (c *clustering) describe(r *Recorder, t terminal) uint64 {
	k := keyReader{b: t.key}
	function, site := k.uvarint(), int(k.uvarint())
	text := binary.AppendUvarint(nil, function)
	var path []int
	for ; site > 0 && site <= len(r.sites.list); site = int(r.sites.list[site-1].Caller) {
		path = append(path, site)
	}
	for _, site := range path[:max(min(len(path), 1), len(path)-c.settings.Frames)] {
		s := &r.sites.list[site-1]
		text = fmt.Appendf(text, "%s %s %d %s %d\n", s.BuildID, s.Module, s.Offset, s.File, s.Line)
	}
	return xxhash.Sum64(text) | 1
}

// isMarker tells whether a call counts among the markers, by the first word of its record.
func isMarker(first uint64) bool {
	flags := high(first) >> 24
	if bigEndian {
		flags = high(first) & 0xff
	}
	return flags&flagMarker != 0
}

// Hashes are polynomials modulo the prime 2^61 − 1: what comes in another order gives another hash, and the hash of an
// interval that comes again follows from the interval's.
const (
	hashPrime = 1<<61 - 1
	hashBase  = 0x1e3779b97f4a7c15
)

func hashTimes(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	sum := low&hashPrime + (high<<3 | low>>61)
	return sum&hashPrime + sum>>61
}

// mix adds to a hash.
func mix(h, x uint64) uint64 { return (hashTimes(h, hashBase) + x&hashPrime + x>>61) % hashPrime }

// again is the hash of so many calls, n times.
func hashAgain(h, calls uint64, n int) uint64 {
	power, square := uint64(1), uint64(hashBase)
	for ; calls > 0; calls >>= 1 {
		if calls&1 == 1 {
			power = hashTimes(power, square)
		}
		square = hashTimes(square, square)
	}
	all := h
	for range n - 1 {
		all = (hashTimes(all, power) + h) % hashPrime
	}
	return all
}

// tallied adds a call to the thread's interval. It tells whether the times wait there.
func (t *thread) tallied(number int32, marker bool, gap, duration int64) bool {
	r, y := t.recorder, t.tally
	c, n := r.clustering, &y.now
	code := c.code(r, number)
	n.calls++
	n.behaviour = mix(n.behaviour, code)
	n.exact = mix(n.exact, uint64(number))
	n.gap += gap
	n.duration += duration
	n.nested = n.nested || gap < 0
	y.stride = mix(y.stride, code)
	if marker {
		if len(c.strides) == mostStrides {
			c.strides = c.strides[:copy(c.strides, c.strides[mostStrides/2:])]
		}
		c.strides = append(c.strides, y.stride)
		y.stride = 0
	}
	if !c.follows && !c.awaited || n.overflowed {
		return false
	}
	if n.calls > trace.MaxStandInCalls {
		n.overflowed = true
		t.keep(&y.closed)
		t.keep(n)
		return false
	}
	n.times.gaps.push(gap)
	n.times.durations.push(duration)
	return true
}

// unchanged tells whether the interval that was closed is as it should be.
func (y *tally) unchanged(m ModeSettings) bool {
	n, b := &y.closed, &y.before
	return n.calls == b.calls && n.behaviour == b.behaviour && (m.IgnoreArguments || n.exact == b.exact) &&
		!n.nested && n.calls <= trace.MaxStandInCalls && n.gap >= 0 && n.duration >= 0
}

// A Ballot is what a rank says at a marker.
type Ballot struct {
	Signature uint64 // of its calls since the last marker: functions, call sites and their order, per thread
	Unchanged bool   // they are as between the two markers before
	Period    int    // in blocking collectives of all processes: how many of them make one turn of the program; 0: unknown
	Calls     uint64 // since the last marker, of the thread with most
}

// Ballot is what the rank says at the marker that it came to last.
func (r *Recorder) Ballot() Ballot {
	if r.clustering == nil {
		return Ballot{}
	}
	return r.clustering.said
}

// ballot is what the rank says of the interval that was closed.
func (r *Recorder) ballot() Ballot {
	c := r.clustering
	b := Ballot{Unchanged: r.grids.settings.Mode != timing.Aggregated, Period: period(c.strides)}
	for _, t := range r.byNumber() {
		y := t.tally
		b.Calls = max(b.Calls, y.closed.calls)
		b.Unchanged = b.Unchanged && y.unchanged(c.settings)
		if y.closed.calls > 0 {
			b.Signature = mix(mix(mix(b.Signature, uint64(t.number)+1), y.closed.calls), y.closed.behaviour)
		}
	}
	b.Unchanged = b.Unchanged && b.Calls > 0
	return b
}

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

// Records of votes: function id, then words after the header, of which the first says what it is.
const voteFunction = 0xffff // no function of MPI

const (
	voteCut     = iota // an interval ends: number of the vote on it
	voteHeld           // the tracer has held the thread since its last call: ticks
	voteOutcome        // what the ranks decided
)

// The words of an outcome.
const (
	voteNumber   = 1 + iota // of the vote, from 0
	voteExplicit            // 1: at MPI_Pcontrol(100)
	voteOrdinal             // of the marker
	voteState               // trace.VoteState
	voteStands              // 1: the interval may be stood in for
	voteFactor              // the next one is so many times as long
	voteLead                // of this rank, −1: none
	voteTicks               // that the thread was held
	voteLeads               // number of lead ranks, which follow
	voteWords
)

const (
	mostVotes  = 1 << 32 // is believed of a damaged record
	mostFactor = 1 << 8
)

// voted takes the record of a step of a vote, in which a thread took part for the rank.
func (r *Recorder) voted(t *thread, words []uint64) {
	w := words[recordPayload:]
	switch c := r.clustering; {
	case c != nil && len(w) == 2 && w[0] == voteHeld && w[1] <= math.MaxInt64:
		t.held(int64(w[1]))
	case c != nil && len(w) == 2 && w[0] == voteCut && r.follow(w[1]):
		r.cut()
	case c != nil && len(w) >= voteWords && w[0] == voteOutcome && w[voteLeads] == uint64(len(w)-voteWords) &&
		w[voteState] <= uint64(trace.VoteEnded) && w[voteTicks] <= math.MaxInt64 && w[voteFactor] <= mostFactor && r.follow(w[voteNumber]):
		if !c.awaited {
			r.cut() // of which there is no record
		}
		r.outcome(w)
		t.held(int64(w[voteTicks]))
	default:
		r.lost.Malformed++
	}
}

// follow makes a vote the next one; false if it cannot be. Of those that were passed over there is no record.
func (r *Recorder) follow(vote uint64) bool {
	c := r.clustering
	if vote > mostVotes || vote < uint64(len(c.votes)) || vote-uint64(len(c.votes)) > 1<<16 {
		return false
	}
	for uint64(len(c.votes)) < vote {
		if !c.awaited {
			r.cut()
		}
		r.decided(trace.Vote{}, none, false, 1)
	}
	return true
}

// cut ends the interval of all threads. The outcome of the vote on it is awaited.
func (r *Recorder) cut() {
	c := r.clustering
	if c.awaited { // of the outcome there is no record
		r.decided(trace.Vote{}, none, false, 1)
	}
	for _, t := range r.threads {
		y := t.tally
		for len(y.marks) < len(c.votes) { // the thread is new
			y.marks = append(y.marks, 0)
		}
		y.marks = append(y.marks, t.calls)
		y.closed, y.now = y.now, interval{}
	}
	c.awaited = true
	c.said = r.ballot()
}

func (r *Recorder) outcome(w []uint64) {
	vote := trace.Vote{Explicit: w[voteExplicit] != 0, Ordinal: w[voteOrdinal], State: trace.VoteState(w[voteState])}
	for _, lead := range w[voteWords:] {
		vote.Leads = append(vote.Leads, int(int32(lead)))
	}
	slices.Sort(vote.Leads)
	lead := none
	if vote.State == trace.VoteClustered || vote.State == trace.VoteLead {
		lead = int(int32(w[voteLead]))
	}
	r.decided(vote, lead, w[voteStands] != 0, max(1, int(w[voteFactor])))
}

// decided takes an outcome: whether the interval is stood in for, and who leads from where it ended.
func (r *Recorder) decided(vote trace.Vote, lead int, stands bool, factor int) {
	c := r.clustering
	number, before := len(c.votes), c.lead
	c.votes = append(c.votes, vote)
	stands = stands && c.follows
	c.lead, c.follows, c.awaited = lead, lead >= 0 && lead != r.rank, false
	for _, t := range r.threads {
		y := t.tally
		if n := &y.closed; n.times.gaps.n > 0 {
			if stands && y.unchanged(c.settings) && n.times.gaps.n == n.calls && number > 0 && len(y.marks) > number &&
				y.marks[number]-y.marks[number-1] == n.calls {
				y.standIns = append(y.standIns, trace.StandIn{Vote: number, Lead: before, Gap: n.gap, Duration: n.duration})
			} else {
				t.keep(n)
			}
		}
		y.before, y.closed = y.closed, interval{}
		y.before.repeat(factor)
		if !c.follows {
			t.keep(&y.now)
		}
	}
}

// repeat makes of an interval what it is if it comes so many times.
func (n *interval) repeat(factor int) {
	n.times = waiting{}
	n.behaviour, n.exact = hashAgain(n.behaviour, n.calls, factor), hashAgain(n.exact, n.calls, factor)
	n.calls *= uint64(factor)
}

// keep puts times that wait where those are that are kept.
func (t *thread) keep(n *interval) {
	t.gaps.join(&n.times.gaps)
	t.durations.join(&n.times.durations)
	t.closeTimes()
	n.times = waiting{}
}

// held notes that the tracer held the thread after its last call: no gap has that.
func (t *thread) held(ticks int64) {
	if t.calls == 0 || ticks == 0 {
		return
	}
	t.lastExit += ticks
	if n := len(t.tally.holds); n > 0 && t.tally.holds[n-1].Call == t.calls {
		t.tally.holds[n-1].Ticks += ticks
		return
	}
	t.tally.holds = append(t.tally.holds, trace.Hold{Call: t.calls, Ticks: ticks})
}

// stoodIn is how many calls of the thread have no times of their own.
func (y *tally) stoodIn() (n uint64) {
	for i := range y.standIns {
		n += y.marks[y.standIns[i].Vote] - y.marks[y.standIns[i].Vote-1]
	}
	return n
}

// addTo gives a thread of a trace what is known of clustering, after so many votes.
func (y *tally) addTo(to *trace.Thread, votes int) {
	to.Marks = slices.Clone(y.marks[:min(len(y.marks), votes)]) // the outcome of another one may be awaited
	to.StandIns, to.Holds = slices.Clone(y.standIns), slices.Clone(y.holds)
}

// stoodInFor lists the calls that another rank stands in for.
func (y *tally) stoodInFor() []callRange {
	var list []callRange
	for i := range y.standIns {
		list = append(list, callRange{y.marks[y.standIns[i].Vote-1], y.marks[y.standIns[i].Vote]})
	}
	return list
}
