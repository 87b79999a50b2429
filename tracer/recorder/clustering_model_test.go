package recorder

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
)

// A voteScript is what one rank with two threads records: calls, cuts and outcomes, of which some
// records are missing. The outcomes are random: the recorder must do what they say, whoever leads.
type voteScript struct {
	s       *recordtest.Shim
	rng     *rand.Rand
	entries []scriptEntry
	threads uint32    // that exist
	exits   [2]uint64 // when the last call of each thread ended
	missing int       // one of so many records of cuts and outcomes is missing

	ignoreArguments bool
}

// A scriptEntry is one record of the script.
type scriptEntry struct {
	kind     online.StepKind // or stepCall
	thread   uint32
	address  uint64
	argument int
	times    [2]int64 // gap and duration
	vote     int
	outcome  online.Outcome
}

const (
	scriptRank = 1
	stepCall   = online.StepOverhead // a call of the program: the script has no overhead of votes
)

// A scriptCall is a call of the program without its times.
type scriptCall struct {
	thread   uint32
	address  uint64
	argument int
}

func (v *voteScript) make(c scriptCall) {
	v.s.Epoch += 2 // in this order
	v.s.Clock += v.rng.Uint64N(9)
	enter := v.s.Clock + 10
	v.s.CallAt(c.thread, c.address, "MPI_Send", 0, 0x10, c.argument, recordtest.TypeInt, 1, 0, recordtest.CommWorld)
	e := scriptEntry{kind: stepCall, thread: c.thread, address: c.address, argument: c.argument}
	if v.exits[c.thread] > 0 {
		e.times[0] = int64(enter - v.exits[c.thread])
	}
	v.exits[c.thread] = v.s.Clock
	e.times[1] = int64(v.s.Clock - enter)
	v.entries = append(v.entries, e)
}

func (v *voteScript) step(e scriptEntry, words ...uint64) {
	if v.rng.IntN(v.missing) == 0 {
		return
	}
	v.s.Epoch += 2
	writeVote(v.s, v.rng.Uint32N(v.threads), append([]uint64{uint64(e.kind), uint64(e.vote)}, words...))
	v.entries = append(v.entries, e)
}

func (v *voteScript) cut(vote int) { v.step(scriptEntry{kind: online.StepCut, vote: vote}) }

// draw returns a random outcome of a vote, mostly with another rank as the lead.
func (v *voteScript) draw(vote int) scriptEntry {
	o := online.Outcome{Vote: trace.Vote{Ordinal: uint64(7 * vote)}, Lead: -1, Factor: 1 + v.rng.IntN(5)/4}
	if v.rng.IntN(6) > 0 {
		o.Vote.State = trace.VoteClustered + trace.VoteState(v.rng.IntN(2))
		o.Lead = []int{-1, 0, 0, 0, 1, 2, 2, 3}[v.rng.IntN(8)]
	}
	o.LeadTimes = o.Vote.State == trace.VoteLead && v.rng.IntN(3) > 0
	return scriptEntry{kind: online.StepOutcome, vote: vote, outcome: o}
}

func (v *voteScript) decide(e scriptEntry) {
	lead, times := ^uint64(0), uint64(0)
	if e.outcome.Lead >= 0 {
		lead = uint64(e.outcome.Lead)
	}
	if e.outcome.LeadTimes {
		times = 1
	}
	v.step(e, 0, e.outcome.Vote.Ordinal, uint64(e.outcome.Vote.State), times, uint64(e.outcome.Factor), lead, 0, 0)
}

// scriptModel is what the definitions say about a script, read from all its entries at once.
type scriptModel struct {
	entries         []scriptEntry
	ignoreArguments bool
}

func (v *voteScript) model() scriptModel { return scriptModel{v.entries, v.ignoreArguments} }

// at returns the first entry that shows that a vote has come this far: its own, or if that is
// missing a later one.
func (m scriptModel) at(kind online.StepKind, vote int) int {
	return slices.IndexFunc(m.entries, func(e scriptEntry) bool {
		return e.kind == kind && e.vote >= vote || kind == online.StepCut && e.kind == online.StepOutcome && e.vote >= vote ||
			kind == online.StepOutcome && e.kind == online.StepCut && e.vote > vote
	})
}

// outcome is that of a vote; without its record all ranks trace.
func (m scriptModel) outcome(vote int) online.Outcome {
	if i := m.at(online.StepOutcome, vote); m.entries[i].kind == online.StepOutcome && m.entries[i].vote == vote {
		return m.entries[i].outcome
	}
	return online.Outcome{Lead: -1, Factor: 1}
}

// interval is the calls of a thread between two cuts.
func (m scriptModel) interval(thread uint32, vote int) (calls []scriptEntry) {
	from := 0
	if vote > 0 {
		from = m.at(online.StepCut, vote-1)
	}
	for _, e := range m.entries[from:m.at(online.StepCut, vote)] {
		if e.kind == stepCall && e.thread == thread {
			calls = append(calls, e)
		}
	}
	return calls
}

// undecided reports whether a vote was without the answers of all ranks, or may have been.
func (m scriptModel) undecided(vote int) bool {
	i := m.at(online.StepOutcome, vote)
	missing := m.entries[i].kind != online.StepOutcome || m.entries[i].vote != vote
	return missing || m.entries[i].outcome.Vote.State == trace.VoteLead && !m.entries[i].outcome.LeadTimes
}

// unchanged reports whether a thread's calls in an interval are those of the one before, as often
// as the outcome on that one said, and so on up to the last decision.
func (m scriptModel) unchanged(thread uint32, vote int) bool {
	calls := m.interval(thread, vote)
	if vote == 0 {
		return len(calls) == 0
	}
	before := slices.Repeat(m.interval(thread, vote-1), m.outcome(vote-1).Factor)
	return (!m.undecided(vote-1) || m.unchanged(thread, vote-1)) && slices.EqualFunc(calls, before, func(a, b scriptEntry) bool {
		return a.address == b.address && (m.ignoreArguments || a.argument == b.argument)
	})
}

// expect compares a thread of the trace with the script.
func (m scriptModel) expect(t *testing.T, thread *trace.Thread, votes int) (extrapolated int) {
	var marks []uint64
	var list []trace.Extrapolation
	var gaps, durations []int64
	for vote := range votes {
		calls, o := m.interval(uint32(thread.Thread), vote), m.outcome(vote)
		lead := -1
		if vote > 0 {
			lead = m.outcome(vote - 1).Lead
		}
		led := lead >= 0 && lead != scriptRank && o.LeadTimes && len(calls) > 0 && m.unchanged(uint32(thread.Thread), vote)
		x := trace.Extrapolation{Vote: vote, Lead: lead}
		for _, c := range calls {
			x.Gap, x.Duration = x.Gap+c.times[0], x.Duration+c.times[1]
			if led {
				c.times = [2]int64{}
			}
			gaps, durations = append(gaps, c.times[0]), append(durations, c.times[1])
		}
		if led {
			list = append(list, x)
			extrapolated++
		}
		marks = append(marks, uint64(len(gaps)))
	}
	n := 0
	for _, e := range m.entries {
		if e.kind == stepCall && e.thread == uint32(thread.Thread) {
			if n++; n > len(gaps) { // after the last vote all times are kept
				gaps, durations = append(gaps, e.times[0]), append(durations, e.times[1])
			}
		}
	}
	require.Equal(t, marks, thread.CallsAtVotes)
	require.Equal(t, list, thread.Extrapolations)
	require.Equal(t, gaps, thread.Gaps)
	require.Equal(t, durations, thread.Durations)
	return extrapolated
}

// expectBallot compares the ballot of a cut, which may be asked for at any time until its outcome.
func (m scriptModel) expectBallot(t *testing.T, r *Recorder, vote int, signatures map[string]uint64) {
	b, ok := r.Ballot(uint64(vote))
	last := m.entries[len(m.entries)-1]
	cut, outcome := m.at(online.StepCut, vote), m.at(online.StepOutcome, vote)
	require.Equal(t, cut >= 0 && outcome < 0, ok, "%+v", last)
	if !ok {
		return
	}
	most, text := 0, ""
	for thread := range uint32(2) {
		calls := m.interval(thread, vote)
		most = max(most, len(calls))
		for _, c := range calls {
			text += strconv.Itoa(int(thread)) + " " + strconv.FormatUint(c.address, 16) + "\n"
		}
	}
	require.EqualValues(t, most, b.Calls)
	require.Equal(t, most > 0 && m.unchanged(0, vote) && m.unchanged(1, vote), b.Unchanged)
	if known, again := signatures[text]; again {
		require.Equal(t, known, b.Signature)
	}
	signatures[text] = b.Signature
}

// Whatever the outcomes say, when they come and which records are missing: the trace is what the
// definitions say, and a recorder that is restored from a checkpoint at any moment continues alike.
func TestVotesAgainstModel(t *testing.T) {
	extrapolated := 0
	for seed := range uint64(90) {
		rng := rand.New(rand.NewPCG(seed, 60))
		s := recordtest.NewShim(t)
		s.Process.Mode = []string{"clustered", "clustered arguments=ignored"}[seed%2]
		v := &voteScript{s: s, rng: rng, missing: []int{1 << 30, 25, 6}[seed%3], ignoreArguments: seed%2 == 1}
		s.Init(scriptRank, 4)
		v.entries = []scriptEntry{{kind: stepCall, address: 0x401000, times: [2]int64{0, 20}}}
		v.exits[0] = s.Clock
		v.votes(t, 40, &extrapolated)
	}
	require.Greater(t, extrapolated, 300)
}

// votes writes a script of n votes and compares the recorder with the model on the way.
func (v *voteScript) votes(t *testing.T, n int, extrapolated *int) {
	plain, restored := New(v.s.Process), New(v.s.Process)
	signatures := map[string]uint64{}
	consume := func(vote int) {
		if v.rng.IntN(3) > 0 || len(v.entries) == 0 {
			return
		}
		var err error
		for _, r := range []*Recorder{plain, restored} {
			r.Consume(sourcesOf(v.s, r, false))
		}
		restored, err = Restore(v.s.Process, restored.AppendState(nil))
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain.AppendState(nil), restored.AppendState(nil)))
		v.model().expectBallot(t, restored, vote, signatures)
		v.model().expectBallot(t, plain, vote, signatures)
	}
	var loop []scriptCall
	length := 1 // of an interval in iterations
	for vote := range n {
		v.threads = 1 + min(uint32(vote)/8, 1)
		if vote == 0 || v.rng.IntN(6) == 0 || length > 8 { // another phase
			loop = nil
			for range 1 + v.rng.IntN(5) {
				loop = append(loop, scriptCall{v.rng.Uint32N(v.threads), 0x401100 + v.rng.Uint64N(3)*16, 1 + v.rng.IntN(8)/7})
			}
			length = v.rng.IntN(4)
		}
		last := v.draw(vote - 1)
		if vote > 0 {
			length *= last.outcome.Factor
		}
		calls := slices.Repeat(loop, length)
		if v.ignoreArguments {
			for i := range calls {
				calls[i].argument = 1 + v.rng.IntN(2)
			}
		}
		outcomeAt := v.rng.IntN(len(calls) + 1)
		for i := range len(calls) + 1 {
			if vote > 0 && i == outcomeAt {
				v.decide(last)
				consume(vote - 1)
			}
			if i < len(calls) {
				v.make(calls[i])
				consume(vote - 1)
			}
		}
		v.cut(vote)
		consume(vote)
	}
	for _, c := range loop {
		v.make(c)
	}
	restored.Consume(sourcesOf(v.s, restored, true))
	content := recordtest.InMemory(t)(restored.Content())
	require.NoError(t, content.Validate())
	votes := content.Meta.Clustering.Votes
	for vote := range votes {
		require.Equal(t, v.model().outcome(vote).Vote, votes[vote])
	}
	require.Negative(t, v.model().at(online.StepOutcome, len(votes)))
	for _, thread := range content.Threads.All() {
		*extrapolated += v.model().expect(t, &thread, len(votes))
	}
}
