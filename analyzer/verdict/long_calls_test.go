package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestLongCalls(t *testing.T) {
	long := func(form verdict.Form, change func(c *verdict.Cause)) verdict.Cause {
		c := verdict.Cause{Kind: verdict.Collectives, Form: form, Before: reduce, Instances: 1, Of: 200, EachSeconds: 0.5, OthersSeconds: new(5e-5), GainSeconds: new(4.0)}
		if change != nil {
			change(&c)
		}
		return c
	}
	assertSays(t, map[string]said{
		"the first":     {long(verdict.WarmUp, nil), "A slow start makes this job slow: the first of 200 calls of MPI_Allreduce at a.c:30 takes 500 ms, later ones take 50 µs." + without},
		"the first few": {long(verdict.WarmUp, func(c *verdict.Cause) { c.Instances = 3 }), "A slow start makes this job slow: the first 3 of 200 calls of MPI_Allreduce at a.c:30 take 500 ms each, later ones 50 µs." + without},
		"a single one":  {long(verdict.Once, func(c *verdict.Cause) { c.First = 101 }), "A single long call makes this job slow: the 101st of 200 calls of MPI_Allreduce at a.c:30 takes 500 ms, the others take 50 µs." + without},
		"of a rank": {long(verdict.Once, func(c *verdict.Cause) {
			c.Kind, c.First, c.Ranks, c.Rank, c.Host = verdict.Messages, 2, "3", new(3), "n1"
			c.OthersSeconds = new(2e-7)
		}), "A single long call makes this job slow: the 2nd of 200 calls of MPI_Allreduce at a.c:30 takes 500 ms on rank 3 (host n1), the others take less than 1 µs." + without},
		"some": {long(verdict.Sometimes, func(c *verdict.Cause) { c.Instances, c.Of = 12, 1600 }), "A few long calls make this job slow: 12 of 1,600 calls of MPI_Allreduce at a.c:30 take 500 ms each, the others 50 µs." + without},
	})
	assertNames(t, map[string]said{
		"the first":    {long(verdict.WarmUp, nil), "a slow start of MPI_Allreduce at a.c:30"},
		"a single one": {long(verdict.Once, nil), "a single long call of MPI_Allreduce at a.c:30"},
		"some":         {long(verdict.Sometimes, nil), "a few long calls of MPI_Allreduce at a.c:30"},
	})
	assertAdvises(t, map[string]advised{
		"the first": {long(verdict.WarmUp, nil), verdict.Neighbors{}, []string{"counts less in a longer run"}, "less often"},
		"some":      {long(verdict.Sometimes, nil), verdict.Neighbors{}, []string{"in the timeline"}, "less often"},
	})
}
