package whatif_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// On an ideal network MPI takes no time: rank 1 enters the barrier at 40, all enter Finalize at 49.
// If rank 1 computes the 10 that rank 0 does, both enter the barrier at 20, leave it 1 later and
// end at 21 + 9 + 1 = 31, whether in all regions or only there, because it computes longer only
// there. If both compute 25 before the barrier, they enter it at 35 and end at 36 + 9 + 1 = 46;
// they enter it once, so that equal work in each iteration is the same.
func TestWhatIf(t *testing.T) {
	f := analyzertest.Built(t, analyzertest.LateAtBarrier())
	type prediction struct {
		kind    verdict.Kind
		what    string
		seconds float64
	}
	var told []prediction
	for _, w := range f.WhatIf {
		assert.InDelta(t, 1-w.Seconds/f.RunSeconds, w.Gain, 1e-9, w.What)
		assert.NotEmpty(t, w.Assumes, w.What)
		told = append(told, prediction{w.Kind, w.What, w.Seconds})
	}
	assert.Equal(t, []prediction{
		{verdict.Network, "the network and MPI cost nothing", 0.049},
		{verdict.Excess, "rank 1 computed as long as the others", 0.031},
		{verdict.Excess, "rank 1 computed as long as the others between MPI_Init at w.c:1 and MPI_Barrier at w.c:2", 0.031},
		{verdict.Imbalance, "all ranks had equal work", 0.046},
		{verdict.Imbalance, "all ranks had equal work each time", 0.046},
	}, told)
}
