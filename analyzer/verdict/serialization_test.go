package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestSerialization(t *testing.T) {
	lock := verdict.Cause{Kind: verdict.Serialization, Form: verdict.Lock, After: send, Before: wait, BlockedSeconds: 3, GainSeconds: new(4.0)}
	assertSays(t, map[string]said{
		"chain":    {verdict.Cause{Kind: verdict.Serialization, Form: verdict.Chain, Before: wait, AtOnce: 1.04, GainSeconds: new(4.0)}, "Ranks compute one after the other, and that makes this job slow: on average 1.0 of them computes at once, the others wait for their turn in MPI_Waitall at a.c:20." + without},
		"pipeline": {verdict.Cause{Kind: verdict.Serialization, Form: verdict.Pipeline, Before: wait, AtOnce: 2.5, GainSeconds: new(4.0), Estimate: true}, "Ranks compute one after the other, and that makes this job slow: on average 2.5 of them compute at once, the others wait for their turn in MPI_Waitall at a.c:20. Without that, the run would take about 4.0 s less (of 10.0 s)."},
		"master": {slow(func(c *verdict.Cause) { c.Kind, c.Form = verdict.Serialization, verdict.Master }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it alone computes between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, 100 times for 60 ms, and the others wait for it." + without},
		"master, once": {slow(func(c *verdict.Cause) { c.Kind, c.Form, c.Of = verdict.Serialization, verdict.Master, 1 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it alone computes between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, for 60 ms, and the others wait for it." + without},
	})
	assertSays(t, map[string]said{
		"lock": {lock, "Ranks seem to wait for each other outside MPI, one after the other, as for a lock, and that makes this job slow: each is blocked in the kernel for 3.0 s on average, between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, while others compute there." + without},
	})
	assertNames(t, map[string]said{
		"lock":   {lock, "ranks that wait for each other outside MPI between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"master": {slow(func(c *verdict.Cause) { c.Kind, c.Form = verdict.Serialization, verdict.Master }), "what rank 3 alone computes between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"chain":  {verdict.Cause{Kind: verdict.Serialization, Form: verdict.Chain, GainSeconds: new(4.0)}, "ranks that compute one after the other"},
	})
	assertAdvises(t, map[string]advised{
		"lock":   {lock, verdict.Neighbors{}, []string{"/proc/locks", "Look at the code that runs"}, "critical path"},
		"chain":  {verdict.Cause{Kind: verdict.Serialization, Form: verdict.Chain, Before: wait}, verdict.Neighbors{}, []string{"around MPI_Waitall at a.c:20", "start with what they have"}, "work to the other ranks"},
		"master": {slow(func(c *verdict.Cause) { c.Kind, c.Form = verdict.Serialization, verdict.Master }), verdict.Neighbors{}, []string{"Give parts of that work to the other ranks"}, "critical path"},
	})
}
