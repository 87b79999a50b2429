package owntime

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/trace"
)

// The partner is the one that lacks most: of the neighbors for messages, of all others for
// collectives. A rank is not its own partner.
func TestPartners(t *testing.T) {
	l := &Lacks{Accounts: &accounts.Accounts{}, inAll: []average{{delayed: 0.1}, {}, {delayed: 0.3}, {delayed: 0.2}}}
	for rank := range l.inAll {
		l.Ranks = append(l.Ranks, trace.Rank{Rank: 10 + rank})
	}
	between := func(from, to int) profile.Tile { return profile.Tile{From: from, To: to} }
	m := &profile.Matrix{Tile: 1, Cells: []profile.Tile{between(10, 11), between(11, 10), between(11, 13), between(12, 12)}}
	assert.Equal(t, []int{2, 2, 3, 2}, l.worstOthers())
	assert.Equal(t, []int{-1, 3, -1, -1}, l.worstNeighbors(m), "rank 11 lacks nothing")
}

// Parts of a time add up to at most all of it: what is certain comes first.
func TestPartsOfATime(t *testing.T) {
	for left, part := range map[float64]Lack{1: {0.4, 0.3, 0.2}, 0.6: {0.4, 0.2, 0}, 0.1: {0.1, 0, 0}, 0: {}} {
		got := Lack{0.4, 0.3, 0.2}.within(left)
		assert.InDelta(t, part.Delayed, got.Delayed, 1e-9)
		assert.InDelta(t, part.Stopped, got.Stopped, 1e-9)
		assert.InDelta(t, part.Perhaps, got.Perhaps, 1e-9)
	}
}

// Two ranks that lack half of the time each do so at the same time in a quarter of it, if that is
// by chance: then a quarter is certain and another one is not.
func TestLacksAtTheSameTime(t *testing.T) {
	assert.Equal(t, Lack{Delayed: 0.25, Perhaps: 0.25}, Lack{Delayed: 0.5}.beside(0.5))
	assert.Equal(t, Lack{Stopped: 0.5}, Lack{Stopped: 0.5}.beside(0))
}

// A rank ran for 400 of 1000, in which its clock was read, waited for a CPU for 300 and was blocked
// for 300. Its main part takes 900 of that. MPI_Init took 100, of which 40 were measured: 10
// without a CPU and 20 blocked.
func TestCountersOfTheMainPart(t *testing.T) {
	a := &accounts.Accounts{Ranks: []trace.Rank{{Context: []trace.ContextSample{{}, {MonotonicNS: 1000, CPUNS: 400, RunDelayNS: 300, StealNS: trace.Unknown}}}}}
	init := outside{}
	init.add(&accounts.Tally{Ns: 100}, &accounts.OffCPU{Wall: 40, Delayed: 10, Blocked: 20})
	delayed, perhaps, blocked := init.remove(a, 0, 900)
	assert.Equal(t, []float64{230, 60, 220}, []float64{delayed, perhaps, blocked})
	delayed, perhaps, blocked = init.remove(a, 0, 2000) // the samples cover half of it
	assert.Equal(t, []float64{590, 0, 580}, []float64{delayed, perhaps, blocked})
}

// Ranks poll if the one that waits longest is hardly blocked. What nobody waits for says nothing.
func TestCallsThatPoll(t *testing.T) {
	waiting := func(waited ...int64) *accounts.Accounts {
		a := &accounts.Accounts{End: 1000, MainOf: []int{0, 1}}
		for _, ns := range waited {
			a.Each = append(a.Each, accounts.Account{Waited: ns})
		}
		return a
	}
	stopped, polling := average{known: true, inCalls: 300}, average{known: true, inCalls: 10}
	assert.True(t, areOnCPU(waiting(50, 200), []average{stopped, polling}))
	assert.False(t, areOnCPU(waiting(200, 50), []average{stopped, polling}))
	assert.False(t, areOnCPU(waiting(5, 10), []average{stopped, polling}), "hardly anybody waits")
	assert.False(t, areOnCPU(waiting(50, 200), []average{stopped, {}}), "not counted")
}
