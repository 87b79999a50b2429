package recorder

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Words of the record of an outcome (tracer/shim/cluster/cluster.c).
const (
	outcomeLead      = 7
	outcomeLeadCount = 9
)

// heldTicks is how long each vote takes.
const heldTicks = 4

// A votingWorld is a set of ranks that vote as the shim does (tracer/shim/cluster/vote.h), with
// markers wherever the test wants them.
type votingWorld struct {
	t         *testing.T
	shims     []*recordtest.Shim
	recorders []*Recorder
	votes     uint64
	state     trace.VoteState
	leads     map[uint64]int // of a signature
	led       []int          // the rank that leads each
	between   func()         // what the ranks do before a vote's outcome is there
	factor    func() uint64  // by how much markers are set apart when nothing has changed
	late      func() bool    // whether the answer of a rank's compressor is
	undecided int            // votes without all answers while ranks were clustered
	kinds     [][]int        // what the ranks did, by interval
}

func newVotingWorld(t *testing.T, ranks int, mode string) *votingWorld {
	w := &votingWorld{t: t, kinds: [][]int{nil}}
	for rank := range ranks {
		s := recordtest.NewShim(t)
		s.Process.Mode = mode
		s.Init(int64(rank), int64(ranks))
		w.shims, w.recorders = append(w.shims, s), append(w.recorders, New(s.Process))
	}
	return w
}

// consume makes the recorder of a rank consume all available records.
func (w *votingWorld) consume(rank int) *Recorder {
	w.recorders[rank].Consume(sourcesOf(w.shims[rank], w.recorders[rank], false))
	return w.recorders[rank]
}

// vote holds a vote and returns its outcome.
func (w *votingWorld) vote() trace.VoteState {
	for _, s := range w.shims {
		writeVote(s, 0, []uint64{uint64(online.StepCut), w.votes})
		writeVote(s, 0, []uint64{uint64(online.StepOverhead), heldTicks / 2})
		s.Clock += heldTicks / 2
	}
	w.kinds = append(w.kinds, nil)
	if w.between != nil {
		w.between()
	}
	ballots := make([]online.Ballot, len(w.shims))
	unchanged, answered := true, true
	for rank := range w.shims {
		if w.late != nil && w.late() {
			answered = false
			continue
		}
		ballots[rank] = w.ballot(rank)
		unchanged = unchanged && ballots[rank].Unchanged
	}
	stands, factor := uint64(0), uint64(1)
	switch {
	case !unchanged || w.state == trace.VoteAll && !answered:
		w.state = trace.VoteAll
	case w.state == trace.VoteAll:
		w.state = trace.VoteClustered
		w.leads = map[uint64]int{}
		for rank := len(ballots) - 1; rank >= 0; rank-- {
			w.leads[ballots[rank].Signature] = rank
		}
		w.led = make([]int, len(ballots))
		for rank := range ballots {
			w.led[rank] = w.leads[ballots[rank].Signature]
		}
	default:
		w.state = trace.VoteLead
		if answered {
			stands = 1
		} else {
			w.undecided++
		}
		if w.factor != nil {
			factor = w.factor()
		}
	}
	for rank, s := range w.shims {
		words := []uint64{uint64(online.StepOutcome), w.votes, 0, 64 * (w.votes + 1), uint64(w.state), stands, factor, ^uint64(0), heldTicks / 2, 0}
		if w.state != trace.VoteAll {
			words[outcomeLead] = uint64(w.led[rank])
		}
		if w.state == trace.VoteClustered {
			for _, lead := range w.leads {
				words = append(words, uint64(lead))
				words[outcomeLeadCount]++
			}
		}
		writeVote(s, 0, words)
		s.Clock += heldTicks / 2
	}
	w.votes++
	return w.state
}

// ballot returns the ballot of a rank about the interval that the latest cut ended.
func (w *votingWorld) ballot(rank int) online.Ballot {
	b, ok := w.consume(rank).Ballot(w.votes)
	require.True(w.t, ok)
	_, ok = w.recorders[rank].Ballot(w.votes + 1)
	require.False(w.t, ok, "of an interval that goes on")
	return b
}

// writeVote writes the record of a step of a vote.
func writeVote(s *recordtest.Shim, thread uint32, words []uint64) {
	t := s.Thread(thread)
	at := len(t.Words)
	t.Words = append(append(t.Words, make([]uint64, record.HeaderWords)...), words...)
	length := uint32(len(t.Words)-at) * 8
	t.Words[at+record.LengthWord] = record.Join(length, online.StepFunction)
	t.Words[at+record.ReservedWord] = record.Join(length, record.HeaderWords<<rawlayout.InputsShift|rawlayout.Committed)
	t.Words[at+record.EpochWord] = s.Epoch | 1
	t.Words[record.HeaderUsed] = uint64(len(t.Words)-record.BufferHeaderWords) * 8
}

// iterate makes iterations of a loop that end in a reduction: of kind 0 all ranks but the first and
// the last call two functions, of kind 1 the even ones another than the odd ones.
func (w *votingWorld) iterate(kind, n int, reduce bool) {
	last := len(w.shims) - 1
	at := len(w.kinds) - 1
	w.kinds[at] = append(w.kinds[at], slices.Repeat([]int{kind}, n)...)
	for rank, s := range w.shims {
		for range n {
			s.Clock += uint64(5 + (rank*7+int(s.Clock))%11)
			peer := (rank + 1) % len(w.shims)
			switch {
			case kind == 0 && (rank == 0 || rank == last):
				s.CallAt(0, 0x401100, "MPI_Send", 0, 0x10, 1, recordtest.TypeInt, peer, 0, recordtest.CommWorld)
			case kind == 0:
				s.CallAt(0, 0x401100, "MPI_Send", 0, 0x10, 1, recordtest.TypeInt, peer, 0, recordtest.CommWorld)
				s.CallAt(0, 0x401200, "MPI_Recv", 0, 1, recordtest.TypeInt, recordtest.AnySource, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Source: int64(s.Clock % 3), Bytes: 4})
			case rank%2 == 0:
				s.CallAt(0, 0x401300, "MPI_Send", 0, 0x10, 4, recordtest.TypeInt, peer, 0, recordtest.CommWorld)
			default:
				s.CallAt(0, 0x401400, "MPI_Recv", 0, 4, recordtest.TypeInt, peer, recordtest.AnyTag, recordtest.CommWorld, 0x10, recordtest.Status{Bytes: 16})
			}
			if reduce {
				s.CallAt(0, 0x402000, "MPI_Allreduce", 0, 0x10, 1, recordtest.TypeInt, 0x58000003, recordtest.CommWorld, 0x20)
			}
		}
	}
}

// contents are the traces of all ranks.
func (w *votingWorld) contents() []*trace.Content {
	var all []*trace.Content
	for rank := range w.shims {
		c := recordtest.InMemory(w.t)(w.consume(rank).Content())
		require.NoError(w.t, c.Validate())
		all = append(all, c)
	}
	return all
}

// full returns the trace of the same records in full mode, less the overhead of votes.
func (w *votingWorld) full(rank int) *trace.Content {
	p := *w.shims[rank].Process
	p.Mode = ""
	r := New(&p)
	r.Consume(sourcesOf(w.shims[rank], r, true))
	r.lost.Malformed = 0 // the records of votes
	c := recordtest.InMemory(w.t)(r.Content())
	c.Threads.Change(0, func(t *trace.Thread) {
		var votes trace.Thread
		w.recorders[rank].threads[0].tally.AddTo(&votes, 0)
		for _, h := range votes.Overheads {
			if h.Call < t.Calls {
				t.Gaps[h.Call] -= h.Ticks
			}
		}
	})
	return c
}

// Two phases lead to one clustering each. Between two votes of a phase only leads keep times. It
// makes no difference whether the outcome of a vote is available at once or later.
func TestClusteringTwoPhases(t *testing.T) {
	const ranks, per = 5, 20
	all, c, l := trace.VoteAll, trace.VoteClustered, trace.VoteLead
	for late, want := range [][]trace.VoteState{
		{all, all, c, l, l, l, l, l, all, c, l, l, l, l, l, l},
		// the first interval of the second phase begins in the first one
		{all, all, c, l, l, l, l, l, all, all, c, l, l, l, l, l},
	} {
		w := newVotingWorld(t, ranks, "clustered")
		var states []trace.VoteState
		for _, kind := range []int{0, 1} {
			if late > 0 {
				w.between = func() { w.iterate(kind, late, true) }
			}
			for range 8 {
				w.iterate(kind, per-late, true)
				states = append(states, w.vote())
			}
		}
		w.iterate(1, 7, true)
		require.Equal(t, want, states)
		confirmed := 11 - late
		led := []int{0, 0, confirmed, confirmed, confirmed} // ranks 0 and 1 lead each phase
		for rank, got := range w.contents() {
			require.Equal(t, states[2], got.Meta.Clustering.Votes[2].State)
			require.Equal(t, []int{0, 1}, got.Meta.Clustering.Votes[2].Leads)
			require.Len(t, got.Threads.At(0).Extrapolations, led[rank], "rank %d", rank)
			w.compare(rank, got)
		}
	}
}

// compare compares a rank's trace with that of full mode: only the sums of extrapolated
// times must be equal.
func (w *votingWorld) compare(rank int, got *trace.Content) {
	t := w.t
	thread, full := got.Threads.At(0), w.full(rank)
	require.Len(t, thread.CallsAtVotes, len(got.Meta.Clustering.Votes))
	require.EqualValues(t, w.votes*heldTicks, thread.OverheadTicks())
	// calls and results are all there
	require.Equal(t, recordtest.Lines(t, full, 0), recordtest.Lines(t, got, 0))
	stands := map[uint64]bool{}
	for _, s := range thread.Extrapolations {
		var gap, duration int64
		for k := thread.CallsAtVotes[s.Vote-1]; k < thread.CallsAtVotes[s.Vote]; k++ {
			gap += full.Threads.At(0).Gaps[k]
			duration += full.Threads.At(0).Durations[k]
			stands[k] = true
		}
		require.Equal(t, []int64{gap, duration}, []int64{s.Gap, s.Duration})
	}
	for k := range thread.Calls {
		want := [2]int64{full.Threads.At(0).Gaps[k], full.Threads.At(0).Durations[k]}
		if stands[k] {
			want = [2]int64{}
		}
		require.Equal(t, want, [2]int64{thread.Gaps[k], thread.Durations[k]}, "rank %d call %d", rank, k)
	}
	// the times that a follower keeps do not grow while nothing changes
	own, y := w.recorders[rank].threads[0].blockTimes+w.recorders[rank].threads[0].gaps.n, w.recorders[rank].threads[0].tally
	require.Equal(t, thread.Calls-thread.CallsExtrapolated(), own+y.closed.gaps.n+y.now.gaps.n)
}

// alike reports whether two ranks make the same calls in iterations of a kind.
func (w *votingWorld) alike(kind, a, b int) bool {
	ends := func(rank int) bool { return rank == 0 || rank == len(w.shims)-1 }
	return kind == 0 && ends(a) == ends(b) || kind == 1 && a%2 == b%2
}

// While ranks are clustered, a vote without all answers leaves it so, and nobody has the times of a
// lead for its interval. If the ranks have changed there, the next vote finds out.
func TestClusteringWithLateAnswers(t *testing.T) {
	extrapolated, undecided := 0, 0
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 61))
		w := newVotingWorld(t, 5, "clustered")
		all := false
		w.late = func() bool { return all || rng.IntN(20) == 0 }
		kind := 0
		for range 60 {
			if rng.IntN(6) == 0 {
				w.iterate(kind, rng.IntN(3), true)
				kind = 1 - kind
			}
			w.iterate(kind, 3, true)
			all = rng.IntN(4) == 0
			w.vote()
		}
		for rank, got := range w.contents() {
			w.compare(rank, got)
			for _, x := range got.Threads.At(0).Extrapolations {
				extrapolated++
				for _, kind := range w.kinds[x.Vote] {
					require.True(t, w.alike(kind, rank, x.Lead), "vote %d", x.Vote)
				}
			}
		}
		undecided += w.undecided
	}
	require.Greater(t, extrapolated, 500)
	require.Greater(t, undecided, 50)
}

// The distance of markers grows while nothing changes: an interval is compared with repetitions
// of the one before.
func TestClusteringFartherApart(t *testing.T) {
	w := newVotingWorld(t, 4, "clustered")
	per := 5
	w.factor = func() uint64 { per *= 2; return 2 }
	for range 8 {
		w.iterate(0, per, true)
		w.vote()
	}
	require.Equal(t, trace.VoteLead, w.state)
	for rank, got := range w.contents() {
		w.compare(rank, got)
	}
	w.iterate(0, per-1, true) // one less than expected
	require.Equal(t, trace.VoteAll, w.vote())
}

// An interval of too many calls keeps its times, in order.
func TestClusteringLongInterval(t *testing.T) {
	w := newVotingWorld(t, 2, "clustered")
	for range 4 {
		w.iterate(0, 5, true)
		w.vote()
	}
	require.Equal(t, trace.VoteLead, w.state)
	w.between = func() { w.iterate(0, trace.MaxExtrapolatedCalls, false) }
	w.iterate(0, 5, true)
	w.vote()
	w.iterate(0, 3, true)
	w.between = nil
	require.Equal(t, trace.VoteAll, w.vote())
	w.iterate(0, 3, true)
	for rank, got := range w.contents() {
		w.compare(rank, got)
	}
}

// A rank that calls something else brings all ranks back to tracing, and nothing of the
// interval is lost.
func TestClusteringKeepsWhatChanges(t *testing.T) {
	w := newVotingWorld(t, 4, "clustered")
	for range 5 {
		w.iterate(0, 10, true)
		w.vote()
	}
	require.Equal(t, trace.VoteLead, w.state)
	w.iterate(0, 5, true)
	w.shims[3].CallAt(0, 0x404000, "MPI_Initialized", 0, 1)
	w.iterate(0, 5, true)
	require.Equal(t, trace.VoteAll, w.vote())
	for rank, got := range w.contents() {
		thread, full := got.Threads.At(0), w.full(rank)
		from, to := thread.CallsAtVotes[4], thread.CallsAtVotes[5]
		require.Equal(t, full.Threads.At(0).Gaps[from:to], thread.Gaps[from:to])
		require.Equal(t, full.Threads.At(0).Durations[from:to], thread.Durations[from:to])
	}
}

// The recorder continues from a checkpoint as if it had never stopped, even while times are
// buffered for a vote.
func TestClusteringCheckpoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	w, plain := newVotingWorld(t, 3, "clustered"), newVotingWorld(t, 3, "clustered")
	for i := range 60 {
		kind, n := i/30, 1+i%2*9
		for _, world := range []*votingWorld{w, plain} {
			world.iterate(kind, n, true)
			if i%2 == 1 {
				world.vote()
			}
		}
		rank := rng.IntN(3)
		state := w.consume(rank).AppendState(nil)
		r, err := Restore(w.shims[rank].Process, state)
		require.NoError(t, err)
		w.recorders[rank] = r
	}
	for rank := range 3 {
		require.True(t, bytes.Equal(plain.consume(rank).AppendState(nil), w.consume(rank).AppendState(nil)), "rank %d", rank)
	}
	require.Positive(t, extrapolated(plain.contents()[2]))
}

func extrapolated(c *trace.Content) uint64 {
	t := c.Threads.At(0)
	return t.CallsExtrapolated()
}

// An interval that is too long, or that has nested calls, keeps its times.
func TestClusteringBounds(t *testing.T) {
	w := newVotingWorld(t, 2, "clustered")
	for range 3 {
		w.iterate(0, trace.MaxExtrapolatedCalls+1, false)
		require.Equal(t, trace.VoteAll, w.vote())
	}
	w = newVotingWorld(t, 2, "clustered")
	for range 3 {
		w.iterate(0, 2, true)
		w.vote()
	}
	require.Equal(t, trace.VoteClustered, w.state)
	w.iterate(0, trace.MaxExtrapolatedCalls+1, false) // while the times of rank 1 wait
	require.Equal(t, trace.VoteAll, w.vote())
	require.Empty(t, w.contents()[1].Threads.At(0).Extrapolations)
}

func TestClusteringSettings(t *testing.T) {
	for text, change := range map[string]trace.VoteState{
		"clustered":                   trace.VoteAll,
		"clustered arguments=ignored": trace.VoteClustered,
	} {
		w := newVotingWorld(t, 2, text)
		for i := range 3 {
			for _, s := range w.shims {
				s.CallAt(0, 0x401300, "MPI_Send", 0, 0x10, 4+i, recordtest.TypeInt, 1, 0, recordtest.CommWorld)
			}
			w.vote()
		}
		require.Equal(t, change, w.state, text)
	}
	w := newVotingWorld(t, 2, "clustered")
	for _, s := range w.shims {
		s.Process.Timing = "aggregated"
	}
	w.recorders = []*Recorder{New(w.shims[0].Process), New(w.shims[1].Process)}
	for range 4 {
		w.iterate(0, 5, true)
		require.Equal(t, trace.VoteAll, w.vote())
	}
}

// The same calls from the same call sites have one signature on all ranks; another order
// has another one.
func TestBallotSignature(t *testing.T) {
	w := newVotingWorld(t, 3, "clustered")
	w.vote()
	order := [][]uint64{{0x401100, 0x401200, 0x401100}, {0x401100, 0x401200, 0x401100}, {0x401200, 0x401100, 0x401100}}
	var signatures []uint64
	for rank, s := range w.shims {
		for _, at := range order[rank] {
			s.CallAt(0, at, "MPI_Barrier", 0, recordtest.CommWorld)
		}
		writeVote(s, 0, []uint64{uint64(online.StepCut), 1})
		signatures = append(signatures, w.ballot(rank).Signature)
	}
	require.Equal(t, signatures[0], signatures[1])
	require.NotEqual(t, signatures[0], signatures[2])
}

// The outermost frames that may differ are ignored; the innermost one never is.
func TestBallotFrames(t *testing.T) {
	code := func(mode string, path ...uint64) uint64 {
		s := recordtest.NewShim(t)
		s.Process.Mode, s.Process.CallSites = mode, "path"
		r := New(s.Process)
		r.Dictionary().Paths = [][]uint64{path}
		words := make([]uint64, record.HeaderWords+1)
		words[record.HeaderWords] = recordtest.CommWorld
		r.Record(0, &Call{Function: mpi.ByName("MPI_Barrier").ID, Address: pathWord(0), Words: words})
		return r.codeOf(0)
	}
	a, b := []uint64{0x401000, 0x401100, 0x401200}, []uint64{0x401000, 0x401100, 0x401300}
	require.NotEqual(t, code("clustered", a...), code("clustered", b...))
	require.Equal(t, code("clustered frames=1", a...), code("clustered frames=1", b...))
	require.NotEqual(t, code("clustered frames=9", 0x401000), code("clustered frames=9", 0x401004))
}

// The shim may count the calls of these functions, and of no other ones.
func TestMarkersAreBlockingCollectives(t *testing.T) {
	for _, name := range []string{"MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Scatterv", "MPI_Allgather", "MPI_Alltoallw", "MPI_Reduce",
		"MPI_Allreduce", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan", "MPI_Neighbor_alltoall", "MPI_Win_fence"} {
		require.True(t, mpi.ByName(name).MayMark(), name)
	}
	for _, name := range []string{"MPI_Ibarrier", "MPI_Allreduce_init", "MPI_Ineighbor_alltoall", "MPI_Comm_dup", "MPI_Comm_free", "MPI_Send", "MPI_Wait",
		"MPI_Win_lock_all", "MPI_Win_start"} {
		require.False(t, mpi.ByName(name).MayMark(), name)
	}
}

// Any content of the record of a vote is survived.
func FuzzVoteRecord(f *testing.F) {
	f.Add([]byte{2, 0, 0, 64, 1, 0, 1, 1, 5, 1, 1})
	f.Add([]byte{2, 1, 0, 64, 2, 1, 2, 0, 7, 0})
	f.Add([]byte{0, 1})
	f.Add([]byte{1, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := recordtest.NewShim(t)
		s.Process.Mode = "clustered"
		s.Init(1, 2)
		for i := range 4 {
			s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
			words := make([]uint64, 0, len(b))
			for k := i; k < len(b); k++ {
				words = append(words, uint64(int64(int8(b[k]))))
			}
			writeVote(s, 0, words)
		}
		c := recordtest.InMemory(t)(recorderOf(s).Content())
		require.NoError(t, c.Validate())
		require.Len(t, c.Threads.At(0).Gaps, int(c.Threads.At(0).Calls))
	})
}

// A vote is no call: the iterations after it are consumed as a whole, like those before it.
func TestLoopsGoOnAfterVotes(t *testing.T) {
	w := newVotingWorld(t, 4, "clustered")
	w.between = func() { w.iterate(1, 3, true) }
	for range 50 {
		w.iterate(1, 97, true)
		w.vote()
	}
	require.Equal(t, trace.VoteLead, w.state)
	for rank := range w.shims {
		thread := w.recorders[rank].threads[0]
		require.Greater(t, thread.repeats.Iterated(), thread.calls*9/10, "rank %d", rank)
	}
}
