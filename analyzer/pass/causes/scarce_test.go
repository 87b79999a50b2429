package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// Three ranks of a node were seen on two CPUs; each computes 600, of which it has a CPU
// for 600 − 200 (delayed) − 10 (stolen) − 50 (blocked) = 340. In turns that takes 3 · 340/2 = 510.
// If one computed 300 less, it would need a CPU for 300 instead of 340: (300 + 2 · 340)/2 = 490.
// The node of the fourth rank has enough CPUs.
func TestScarceCPUs(t *testing.T) {
	region := accounts.Activity{Function: 1, Next: 2}
	a := newEvidence(&accounts.Accounts{MainOf: []int{0, 1, 2, 3}, End: 1000, Progressed: 1000}, nil)
	for row, cpu := range []int64{4, 5, 4, 7} {
		r := trace.Rank{Rank: row, Node: "few", Context: []trace.ContextSample{{CPU: cpu}, {CPU: -1}}}
		if row == 3 {
			r.Node = "enough"
		}
		a.Ranks = append(a.Ranks, r)
		a.Each = append(a.Each, accounts.Account{Compute: 600, OffCPU: map[accounts.Activity]*accounts.OffCPU{
			region: {Wall: 600, Delayed: 200, Stolen: 10, Blocked: 50},
		}})
	}
	s := findScarce(a)
	few := scarceMachine{cpus: 2, ranks: []scarceRank{{0, 600, 340}, {1, 600, 340}, {2, 600, 340}}}
	assert.Equal(t, scarceCPUs{machines: []scarceMachine{few}, run: 1000}, s)
	h := &Hypothesis{Cause: verdict.Cause{Kind: verdict.Imbalance}}
	assert.EqualValues(t, 510, s.least(h, nil))
	assert.EqualValues(t, 490, s.least(h, []int64{-300, 0, 0, 0}))
	for _, c := range []verdict.Cause{{Kind: verdict.CPUs}, {Kind: verdict.Excess, Form: verdict.Preempted}, {Kind: verdict.Excess, Form: verdict.Stolen}} {
		assert.Zero(t, s.least(&Hypothesis{Cause: c}, nil), "it is about the CPUs")
	}
}
