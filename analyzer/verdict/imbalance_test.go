package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestImbalance(t *testing.T) {
	idle := unequal(verdict.Idle, verdict.Irregular, func(c *verdict.Cause) { c.Ranks, c.Rank, c.EachSeconds = "6-7", new(6), 0.06 })
	blocked := unequal(verdict.Heavy, verdict.Irregular, func(c *verdict.Cause) { c.BlockedSeconds = 1.5 })
	assertSays(t, map[string]said{
		"grows":     {unequal(verdict.Gradient, verdict.ByRank, func(c *verdict.Cause) { c.Spread.Grows = true }), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; it grows with the rank; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 4.0 s less (of 10.0 s)."},
		"falls":     {unequal(verdict.Gradient, verdict.ByRank, nil), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; it falls with the rank; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 4.0 s less (of 10.0 s)."},
		"by node":   {unequal(verdict.Heavy, verdict.ByNode, nil), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; ranks of one node are alike; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 4.0 s less (of 10.0 s)."},
		"by row":    {unequal(verdict.Heavy, verdict.ByRow, func(c *verdict.Cause) { c.Spread.Width = 4 }), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; each 4 neighbors from rank 0 on are alike; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 4.0 s less (of 10.0 s)."},
		"by column": {unequal(verdict.Heavy, verdict.ByColumn, func(c *verdict.Cause) { c.Spread.Width = 2 }), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; every 2nd rank is alike; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 4.0 s less (of 10.0 s)."},
		"irregular": {unequal(verdict.Heavy, verdict.Irregular, nil), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 4.0 s less (of 10.0 s)."},
		"classes":   {unequal(verdict.Classes, verdict.Irregular, func(c *verdict.Cause) { c.Ranks = "1,3,5" }), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; ranks 1,3,5 compute longer than the rest; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 4.0 s less (of 10.0 s)."},
		"moving":    {unequal(verdict.Moving, verdict.ByIteration, nil), "Unequal work makes this job slow: now one rank and now another computes longest between MPI_Send at a.c:10 and MPI_Waitall at a.c:20; in total ranks 0-7 compute there between 1.0 s and 3.0 s each. If work were divided equally each time, the run would take 4.0 s less (of 10.0 s)."},
		"trend": {unequal(verdict.Moving, verdict.ByTime, func(c *verdict.Cause) {
			c.Spread.FirstRank, c.Spread.LastRank, c.Spread.Least = new(0), new(1), 2.999
		}), "Unequal work makes this job slow: at first rank 0 computes longest between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, in the end rank 1; in total ranks 0-7 compute there for 3.0 s each. If work were divided equally each time, the run would take 4.0 s less (of 10.0 s)."},
		"moving, blocked": {unequal(verdict.Moving, verdict.ByIteration, func(c *verdict.Cause) { c.BlockedSeconds = 1.5 }), "Unequal waiting in the kernel makes this job slow: now one rank and now another spends longest between MPI_Send at a.c:10 and MPI_Waitall at a.c:20; in total ranks 0-7 spend there between 1.0 s and 3.0 s each, on average 1.5 s of that blocked, not computing. If they all spent the same time each time, the run would take 4.0 s less (of 10.0 s)."},
		"idle":            {idle, "Work that only some ranks get makes this job slow: ranks 6-7 wait in MPI_Waitall at a.c:20 for 60 ms and have next to nothing to do, while ranks 0-7 compute for up to 3.0 s each. If work were divided equally, the run would take 4.0 s less (of 10.0 s)."},
		"blocked":         {blocked, "Unequal waiting in the kernel makes this job slow: ranks 0-7 spend between 1.0 s and 3.0 s each, rank 5 the longest, 1.5 s of that blocked, not computing; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If they all spent the same time, the run would take 4.0 s less (of 10.0 s)."},
	})
	assertNames(t, map[string]said{
		"imbalance": {unequal(verdict.Heavy, verdict.Irregular, nil), "unequal work between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"idle":      {idle, "ranks 6-7, which have next to nothing to do"},
		"blocked":   {blocked, "unequal waiting in the kernel between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
	})
	assertAdvises(t, map[string]advised{
		"gradient":  {unequal(verdict.Gradient, verdict.ByRank, nil), verdict.Neighbors{}, []string{"how work is divided", "depends on the rank number"}, "iteration"},
		"by node":   {unequal(verdict.Heavy, verdict.ByNode, nil), verdict.Neighbors{}, []string{"compare the nodes"}, "iteration"},
		"by row":    {unequal(verdict.Heavy, verdict.ByRow, nil), verdict.Neighbors{}, []string{"position in the grid"}, "iteration"},
		"by column": {unequal(verdict.Heavy, verdict.ByColumn, nil), verdict.Neighbors{}, []string{"position in the grid"}, "iteration"},
		"moving":    {unequal(verdict.Moving, verdict.ByIteration, nil), verdict.Neighbors{}, []string{"Divide the work of each iteration"}, "grid"},
		"trend":     {unequal(verdict.Moving, verdict.ByTime, nil), verdict.Neighbors{}, []string{"divide it anew"}, "Divide the work of each iteration"},
		"irregular": {unequal(verdict.Heavy, verdict.Irregular, nil), verdict.Neighbors{}, []string{"Divide by what parts cost"}, "grid"},
		"idle":      {idle, verdict.Neighbors{}, []string{"Find out why they get no work"}, "grid"},
		"blocked":   {blocked, verdict.Neighbors{}, []string{"wait inside the kernel"}, "grid"},
	})
}
