package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

var (
	wait   = verdict.Call{Function: "MPI_Waitall", CallSite: "a.c:20"}
	send   = verdict.Call{Function: "MPI_Send", CallSite: "a.c:10"}
	reduce = verdict.Call{Function: "MPI_Allreduce", CallSite: "a.c:30"}
)

// slow returns a cause about rank 3, which computes longer each time.
func slow(change func(c *verdict.Cause)) verdict.Cause {
	c := verdict.Cause{Kind: verdict.Excess, Form: verdict.Always, Ranks: "3", Rank: new(3), Pod: "w-1", Node: "n2", Host: "w-1",
		After: send, Before: wait, Of: 100, EachSeconds: 0.06, OthersSeconds: new(0.02), OthersOf: 100, GainSeconds: new(4.0)}
	if change != nil {
		change(&c)
	}
	return c
}

// several returns a cause about ranks 4-7, of several pods and nodes.
func several(change func(c *verdict.Cause)) verdict.Cause {
	return slow(func(c *verdict.Cause) {
		c.Ranks, c.Rank, c.Pod, c.Node, c.Host = "4-7", new(4), "", "", ""
		if change != nil {
			change(c)
		}
	})
}

// unequal returns a cause about unequal work of 8 ranks.
func unequal(form verdict.Form, shape verdict.Shape, change func(c *verdict.Cause)) verdict.Cause {
	c := verdict.Cause{Kind: verdict.Imbalance, Form: form, After: send, Before: wait, GainSeconds: new(4.0),
		Spread: &verdict.Spread{Ranks: "0-7", Least: 1, Mean: 2, Most: 3, MaxRank: 5, Shape: shape}}
	if change != nil {
		change(&c)
	}
	return c
}

const without = " Without that, the run would take 4.0 s less (of 10.0 s)."

// Every kind and form, with its text.
func TestTheSentence(t *testing.T) {
	for name, c := range map[string]struct {
		cause verdict.Cause
		says  string
	}{
		"longer each time": {slow(nil), "Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms." + without},
		"outside Kubernetes": {slow(func(c *verdict.Cause) { c.Pod, c.Node, c.Host = "", "", "h7" }),
			"Rank 3 (host h7) makes this job slow: it computes for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms." + without},
		"once": {slow(func(c *verdict.Cause) { c.Of, c.OthersOf = 1, 1 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms." + without},
		"more often": {slow(func(c *verdict.Cause) { c.OthersOf = 40 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it computes 100 times for 60 ms between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 40 times for 20 ms." + without},
		"others hardly work there": {slow(func(c *verdict.Cause) { c.OthersSeconds = new(1e-5) }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, where the others have next to nothing to do." + without},
		"nobody else comes there": {slow(func(c *verdict.Cause) { c.OthersSeconds, c.OthersOf, c.Of = nil, 0, 1 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, where the others have next to nothing to do." + without},
		"instances differ": {slow(func(c *verdict.Cause) { c.Varies = true }), "Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms on average between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms." + without},
		"several":          {several(nil), "Ranks 4-7 make this job slow: they compute for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms." + without},
		"node": {several(func(c *verdict.Cause) { c.Scope, c.Node = "node", "n2" }),
			"Node n2 makes this job slow: its ranks, 4-7, compute for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms." + without},
		"pod": {several(func(c *verdict.Cause) { c.Scope, c.Pod = "pod", "w-1" }),
			"Pod w-1 makes this job slow: its ranks, 4-7, compute for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms." + without},
		"in a function, in a phase": {slow(func(c *verdict.Cause) { c.In, c.Phase = "solve", "loop 2" }),
			`Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time in solve, between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 (phase "loop 2"), the others for 20 ms.` + without},
		"sometimes": {slow(func(c *verdict.Cause) { c.Form, c.Instances = verdict.Sometimes, 12 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms in 12 of 100 times between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, and for 20 ms otherwise." + without},
		"in a thread": {slow(func(c *verdict.Cause) { c.Form = verdict.InThread }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms; meanwhile another of its threads computes." + without},
		"its threads communicate": {slow(func(c *verdict.Cause) { c.Form = verdict.InCalls }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; its first thread waits meanwhile, and other threads of its process make MPI calls." + without},
		"blocked": {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds = verdict.Blocked, 3.9 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that it is blocked in the kernel: it does not compute." + without},
		"several, blocked": {several(func(c *verdict.Cause) { c.Form, c.BlockedSeconds = verdict.Blocked, 3.9 }),
			"Ranks 4-7 make this job slow: they spend 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that they are blocked in the kernel: they do not compute." + without},
		"blocked by files": {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds, c.Bytes = verdict.Blocked, 3.9, 1<<20 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that it is blocked in the kernel, with 1.0 MiB read or written meanwhile: it waits for files." + without},
		"stopped": {slow(func(c *verdict.Cause) { c.Form, c.StoppedSeconds = verdict.Stopped, 3.9 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms; the CPU limit of its container stopped it for 3.9 s longer than the others, and that, not more work, is the reason." + without},
		"several stopped": {several(func(c *verdict.Cause) { c.Form, c.StoppedSeconds = verdict.Stopped, 3.9 }),
			"Ranks 4-7 make this job slow: they compute for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms; the CPU limits of their containers stopped them for 3.9 s longer than the others, and that, not more work, is the reason." + without},
		"stopped, where is not known": {slow(func(c *verdict.Cause) {
			c.Form, c.StoppedSeconds, c.After, c.Before, c.EachSeconds, c.Of, c.OthersSeconds = verdict.Stopped, 3.9, verdict.Call{}, verdict.Call{}, 0, 0, nil
		}),
			"Rank 3 (pod w-1, node n2) makes this job slow: the CPU limit of its container stopped it for 3.9 s longer than the others." + without},
		"preempted": {slow(func(c *verdict.Cause) { c.Form = verdict.Preempted }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it waits for a CPU while the others have one, since something else runs there." + without},
		"several preempted": {several(func(c *verdict.Cause) { c.Form = verdict.Preempted }),
			"Ranks 4-7 make this job slow: they wait for a CPU while the others have one, since something else runs there." + without},
		"stolen": {slow(func(c *verdict.Cause) { c.Form, c.StolenSeconds = verdict.Stolen, 3.9 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it waits for a CPU while the others have one, since the hypervisor runs other machines on it." + without},
		"node preempted": {several(func(c *verdict.Cause) { c.Form, c.Scope, c.Node = verdict.Preempted, "node", "n2" }),
			"Node n2 makes this job slow: its ranks, 4-7, wait for a CPU while the others have one, since something else runs there." + without},

		"grows":     {unequal(verdict.Gradient, verdict.ByRank, func(c *verdict.Cause) { c.Spread.Grows = true }), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; it grows with the rank; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 6.0 s instead of 10.0 s."},
		"falls":     {unequal(verdict.Gradient, verdict.ByRank, nil), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; it falls with the rank; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 6.0 s instead of 10.0 s."},
		"by node":   {unequal(verdict.Heavy, verdict.ByNode, nil), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; ranks of one node compute alike; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 6.0 s instead of 10.0 s."},
		"by row":    {unequal(verdict.Heavy, verdict.ByRow, func(c *verdict.Cause) { c.Spread.Width = 4 }), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; each 4 neighbors from rank 0 on compute alike; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 6.0 s instead of 10.0 s."},
		"by column": {unequal(verdict.Heavy, verdict.ByColumn, func(c *verdict.Cause) { c.Spread.Width = 2 }), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; every 2nd rank computes alike; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 6.0 s instead of 10.0 s."},
		"irregular": {unequal(verdict.Heavy, verdict.Irregular, nil), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 6.0 s instead of 10.0 s."},
		"classes":   {unequal(verdict.Classes, verdict.Irregular, func(c *verdict.Cause) { c.Ranks = "1,3,5" }), "Unequal work makes this job slow: ranks 0-7 compute between 1.0 s and 3.0 s each, rank 5 the longest; ranks 1,3,5 compute longer than the rest; they differ most between MPI_Send at a.c:10 and MPI_Waitall at a.c:20. If work were divided equally, the run would take 6.0 s instead of 10.0 s."},
		"moving":    {unequal(verdict.Moving, verdict.ByIteration, nil), "Unequal work makes this job slow: each time another rank computes longest between MPI_Send at a.c:10 and MPI_Waitall at a.c:20; in total ranks 0-7 compute there between 1.0 s and 3.0 s each. If work were divided equally each time, the run would take 6.0 s instead of 10.0 s."},

		"chain":    {verdict.Cause{Kind: verdict.Serialization, Form: verdict.Chain, Before: wait, AtOnce: 1.04, GainSeconds: new(4.0)}, "Ranks compute one after the other, and that makes this job slow: on average 1.0 of them computes at once, the others wait for their turn in MPI_Waitall at a.c:20." + without},
		"pipeline": {verdict.Cause{Kind: verdict.Serialization, Form: verdict.Pipeline, Before: wait, AtOnce: 2.5, GainSeconds: new(4.0), Estimate: true}, "Ranks compute one after the other, and that makes this job slow: on average 2.5 of them compute at once, the others wait for their turn in MPI_Waitall at a.c:20. Without that, the run would take about 4.0 s less (of 10.0 s)."},
		"master": {slow(func(c *verdict.Cause) { c.Kind, c.Form = verdict.Serialization, verdict.Master }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it alone computes between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, 100 times for 60 ms, and the others wait for it." + without},
		"master, once": {slow(func(c *verdict.Cause) { c.Kind, c.Form, c.Of = verdict.Serialization, verdict.Master, 1 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it alone computes between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, for 60 ms, and the others wait for it." + without},
	} {
		t.Run(name, func(t *testing.T) { assertSays(t, c.cause, c.says) })
	}
}

func assertSays(t *testing.T, c verdict.Cause, says string) {
	t.Helper()
	v := verdict.Of([]verdict.Cause{c}, verdict.Facts{RunSeconds: 10, Ranks: 8, Ended: 8})
	assert.Equal(t, says, v.Text)
	assert.Equal(t, c.Kind, v.Blames)
	assert.Equal(t, c.Ranks, v.Ranks)
	assert.Equal(t, c.Rank, v.Rank)
	assert.Equal(t, c.GainSeconds, v.GainSeconds)
}

// The same for causes about calls, CPUs, and the tracer.
func TestTheSentenceOnCalls(t *testing.T) {
	for name, c := range map[string]struct {
		cause verdict.Cause
		says  string
	}{
		"not posted":               {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: send, GainSeconds: new(4.0)}, "Late receivers make this job slow: senders wait in MPI_Send at a.c:10 until the receiver has posted its receive." + without},
		"not posted by one":        {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: send, Ranks: "3", GainSeconds: new(4.0)}, "A late receiver makes this job slow: senders wait in MPI_Send at a.c:10 until rank 3 has posted its receive." + without},
		"not posted by several":    {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: send, Ranks: "3,5", GainSeconds: new(4.0)}, "Late receivers make this job slow: senders wait in MPI_Send at a.c:10 until ranks 3,5 have posted their receives." + without},
		"outside MPI":              {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotInside, Before: send, GainSeconds: new(4.0)}, "Late receivers make this job slow: senders wait in MPI_Send at a.c:10 until the receiver, which computes, calls MPI again." + without},
		"several outside MPI":      {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotInside, Before: send, Ranks: "3,5", GainSeconds: new(4.0)}, "Late receivers make this job slow: senders wait in MPI_Send at a.c:10 until ranks 3,5, which compute, call MPI again." + without},
		"small messages":           {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany, Before: send, Calls: 12000, EachSeconds: 2e-6, Bytes: 8, GainSeconds: new(4.0)}, "Many small messages make this job slow: most of their time goes to MPI_Send at a.c:10 (12,000 calls, 2 µs each, 8 B on average)." + without},
		"large messages":           {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: send, Calls: 12, EachSeconds: 0.002, Bytes: 3 << 20, GainSeconds: new(4.0)}, "Large messages make this job slow: most of their time goes to MPI_Send at a.c:10 (12 calls, 2 ms each, 3.0 MiB on average)." + without},
		"many messages of nothing": {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany, Before: send, Calls: 12000, EachSeconds: 2e-6, GainSeconds: new(4.0)}, "Many small messages make this job slow: most of their time goes to MPI_Send at a.c:10 (12,000 calls, 2 µs each)." + without},
		"large halos":              {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: wait, Completes: true, Calls: 12, EachSeconds: 0.002, Bytes: 6 << 20, GainSeconds: new(4.0)}, "Large messages make this job slow: most of their time goes to MPI_Waitall at a.c:20 (12 calls, 2 ms each, messages of 6.0 MiB on average)." + without},
		"messages not overlapped":  {verdict.Cause{Kind: verdict.Messages, Form: verdict.NoOverlap, Before: wait, Completes: true, AheadSeconds: 0.015, Calls: 12, EachSeconds: 0.012, Bytes: 6 << 20, GainSeconds: new(4.0)}, "Non-blocking messages make this job slow: they are started 15 ms before the wait for them, and yet most of their time goes to MPI_Waitall at a.c:20 (12 calls, 12 ms each, messages of 6.0 MiB on average)." + without},
		"not overlapped":           {verdict.Cause{Kind: verdict.Collectives, Form: verdict.NoOverlap, Before: wait, Completes: true, AheadSeconds: 0.015, Calls: 12, EachSeconds: 0.012, Bytes: 8 << 20, GainSeconds: new(4.0)}, "Non-blocking collectives make this job slow: they are started 15 ms before the wait for them, and yet most of their time goes to MPI_Waitall at a.c:20 (12 calls, 12 ms each, collectives of 8.0 MiB on average)." + without},
		"a single collective":      {verdict.Cause{Kind: verdict.Collectives, Before: reduce, Calls: 1, EachSeconds: 0.0708, GainSeconds: new(4.0)}, "Collectives make this job slow: most of their time goes to MPI_Allreduce at a.c:30 (1 call, 70.8 ms)." + without},
		"local calls":              {verdict.Cause{Kind: verdict.Local, Before: verdict.Call{Function: "MPI_Type_commit"}, Calls: 2000, EachSeconds: 0.002, GainSeconds: new(4.0)}, "Local MPI calls make this job slow: most of their time goes to MPI_Type_commit (2,000 calls, 2 ms each)." + without},
		"copies":                   {verdict.Cause{Kind: verdict.Local, Form: verdict.Copies, Before: verdict.Call{Function: "MPI_Pack"}, Calls: 2000, EachSeconds: 0.002, GainSeconds: new(4.0)}, "Copies of data within ranks make this job slow: most of their time goes to MPI_Pack (2,000 calls, 2 ms each)." + without},
		"polls seldom":             {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.Seldom, Ranks: "0", Before: verdict.Call{Function: "MPI_Iprobe"}, EachSeconds: 0.012, GainSeconds: new(4.0)}, "Rank 0 makes this job slow: it polls in MPI_Iprobe only every 12 ms, and is idle in between while others wait for it." + without},
		"all poll seldom":          {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.Seldom, Before: verdict.Call{Function: "MPI_Iprobe"}, EachSeconds: 0.012, GainSeconds: new(4.0)}, "The ranks make this job slow: they poll in MPI_Iprobe only every 12 ms, and are idle in between while others wait for them." + without},
		"messages of unknown size": {verdict.Cause{Kind: verdict.Messages, Before: wait, Calls: 1, EachSeconds: 0.5, GainSeconds: new(4.0)}, "Messages make this job slow: most of their time goes to MPI_Waitall at a.c:20 (1 call, 500 ms)." + without},
		"network":                  {verdict.Cause{Kind: verdict.Network, Before: wait, Calls: 12, EachSeconds: 0.5, GainSeconds: new(4.0)}, "Messages between nodes make this job slow: most of their time goes to MPI_Waitall at a.c:20 (12 calls, 500 ms each)." + without},
		"many collectives":         {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooOften, Before: reduce, Calls: 12000, EachSeconds: 2e-5, Bytes: 8, GainSeconds: new(4.0)}, "Many collectives make this job slow: most of their time goes to MPI_Allreduce at a.c:30 (12,000 calls, 20 µs each, 8 B on average)." + without},
		"collectives of much data": {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooLarge, Before: reduce, Calls: 120, EachSeconds: 0.02, Bytes: 1 << 20, GainSeconds: new(4.0)}, "Collectives of much data make this job slow: most of their time goes to MPI_Allreduce at a.c:30 (120 calls, 20 ms each, 1.0 MiB on average)." + without},
		"files":                    {verdict.Cause{Kind: verdict.IO, Before: verdict.Call{Function: "MPI_File_write_all"}, Calls: 120, EachSeconds: 0.02, GainSeconds: new(4.0)}, "Files make this job slow: most of their time goes to MPI_File_write_all (120 calls, 20 ms each)." + without},
		"late start": {slow(func(c *verdict.Cause) {
			c.Kind, c.Form, c.EachSeconds, c.Estimate = verdict.StartEnd, verdict.Start, 4, true
		}), "Rank 3 (pod w-1, node n2) makes this job slow: it comes to MPI_Init 4.0 s after the others, and all of them wait for it there. Without that, the run would take about 4.0 s less (of 10.0 s)."},
		"late start of several":     {several(func(c *verdict.Cause) { c.Kind, c.Form, c.EachSeconds = verdict.StartEnd, verdict.Start, 4 }), "Ranks 4-7 make this job slow: they come to MPI_Init 4.0 s after the others, and all of them wait for them there." + without},
		"too few CPUs":              {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew, GainSeconds: new(4.0)}, "Too few CPUs make this job slow: ranks are ready to compute and wait for a CPU, all alike." + without},
		"limits":                    {verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits, GainSeconds: new(4.0)}, "CPU limits make this job slow: they stop the containers of all ranks alike." + without},
		"too few for one":           {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew, Ranks: "0", GainSeconds: new(4.0)}, "Too few CPUs make this job slow: rank 0 is ready to compute and waits for a CPU." + without},
		"the limit of one":          {verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits, Ranks: "0", GainSeconds: new(4.0)}, "The CPU limit of its container makes this job slow: it stops rank 0." + without},
		"all blocked":               {verdict.Cause{Kind: verdict.Kernel, After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, GainSeconds: new(4.0)}, "Waiting in the kernel makes this job slow: all ranks alike are blocked for 4.0 s of the 5.0 s that they spend between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 each, on average: they neither run nor are ready to run." + without},
		"the only one blocked":      {verdict.Cause{Kind: verdict.Kernel, Ranks: "0", After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, GainSeconds: new(4.0)}, "Waiting in the kernel makes this job slow: rank 0 is blocked for 4.0 s of the 5.0 s that it spends between MPI_Send at a.c:10 and MPI_Waitall at a.c:20: it neither runs nor is ready to run." + without},
		"little":                    {slow(func(c *verdict.Cause) { c.GainSeconds = new(0.3) }), "Rank 3 (pod w-1, node n2) makes this job a little slower: it computes for 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others for 20 ms. Without that, the run would take 300 ms less (of 10.0 s)."},
		"tracer":                    {verdict.Cause{Kind: verdict.Tracer, GainSeconds: new(0.7), Estimate: true}, "The tracer itself makes this job slow. Without that, the run would take about 700 ms less (of 10.0 s)."},
		"gain not known":            {slow(func(c *verdict.Cause) { c.GainSeconds, c.After = nil, verdict.Call{} }), "Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time before MPI_Waitall at a.c:20, the others for 20 ms. How much shorter the run would be without that is not known, since the times of single calls were not kept."},
		"between calls of one site": {slow(func(c *verdict.Cause) { c.After = wait }), "Rank 3 (pod w-1, node n2) makes this job slow: it computes for 60 ms each time between two calls of MPI_Waitall at a.c:20, the others for 20 ms." + without},
	} {
		t.Run(name, func(t *testing.T) { assertSays(t, c.cause, c.says) })
	}
}

// The following causes have short names, each with its gain given that those before are removed.
func TestWhatComesNext(t *testing.T) {
	first := slow(nil)
	for name, c := range map[string]struct {
		second verdict.Cause
		says   string
	}{
		"rank":             {several(nil), "ranks 4-7, which compute longer between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"one rank":         {slow(func(c *verdict.Cause) { c.Ranks = "6" }), "rank 6, which computes longer between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"preempted":        {slow(func(c *verdict.Cause) { c.Form = verdict.Preempted }), "rank 3, which waits for a CPU"},
		"stolen":           {several(func(c *verdict.Cause) { c.Form = verdict.Stolen }), "ranks 4-7, which wait for a CPU"},
		"stopped":          {slow(func(c *verdict.Cause) { c.Form, c.EachSeconds = verdict.Stopped, 0 }), "rank 3, which is stopped by a CPU limit"},
		"imbalance":        {unequal(verdict.Heavy, verdict.Irregular, nil), "unequal work between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"master":           {slow(func(c *verdict.Cause) { c.Kind, c.Form = verdict.Serialization, verdict.Master }), "what rank 3 alone computes between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"chain":            {verdict.Cause{Kind: verdict.Serialization, Form: verdict.Chain, GainSeconds: new(4.0)}, "ranks that compute one after the other"},
		"polls":            {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.Seldom, Before: send, GainSeconds: new(4.0)}, "seldom polls in MPI_Send at a.c:10"},
		"local calls":      {verdict.Cause{Kind: verdict.Local, Before: send, GainSeconds: new(4.0)}, "local MPI calls, most of all MPI_Send at a.c:10"},
		"receivers":        {verdict.Cause{Kind: verdict.LateReceiver, Before: send, GainSeconds: new(4.0)}, "late receivers of MPI_Send at a.c:10"},
		"messages":         {verdict.Cause{Kind: verdict.Messages, Before: send, GainSeconds: new(4.0)}, "messages, most of all MPI_Send at a.c:10"},
		"network":          {verdict.Cause{Kind: verdict.Network, Before: send, GainSeconds: new(4.0)}, "messages between nodes, most of all MPI_Send at a.c:10"},
		"collectives":      {verdict.Cause{Kind: verdict.Collectives, Before: reduce, GainSeconds: new(4.0)}, "collectives, most of all MPI_Allreduce at a.c:30"},
		"files":            {verdict.Cause{Kind: verdict.IO, Before: reduce, GainSeconds: new(4.0)}, "files, most of all MPI_Allreduce at a.c:30"},
		"start":            {slow(func(c *verdict.Cause) { c.Kind = verdict.StartEnd }), "rank 3, which comes late to MPI_Init"},
		"start of several": {several(func(c *verdict.Cause) { c.Kind = verdict.StartEnd }), "ranks 4-7, which come late to MPI_Init"},
		"CPUs":             {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew, GainSeconds: new(4.0)}, "too few CPUs"},
		"limits":           {verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits, GainSeconds: new(4.0)}, "CPU limits"},
		"tracer":           {verdict.Cause{Kind: verdict.Tracer, GainSeconds: new(4.0)}, "the tracer"},
	} {
		t.Run(name, func(t *testing.T) {
			third := verdict.Cause{Kind: verdict.IO, Before: reduce}
			v := verdict.Of([]verdict.Cause{first, c.second, third}, verdict.Facts{RunSeconds: 10, Ranks: 8, Ended: 8})
			assert.Contains(t, v.Text, without+" Next: "+c.says+" (another 4.0 s). Then: files, most of all MPI_Allreduce at a.c:30.")
		})
	}
}

// An untraced part is mentioned first; for missing ranks and lost calls see TestRecorded.
func TestTheGapsComeFirst(t *testing.T) {
	for name, c := range map[string]struct {
		facts verdict.Facts
		says  string
	}{
		"untraced":        {verdict.Facts{UntracedSeconds: 40, Ranks: 8}, "Tracing was off for 50% of the ranks' time, of which nothing is known. Of the rest: rank 3 "},
		"hardly untraced": {verdict.Facts{UntracedSeconds: 3, Ranks: 8}, "Rank 3 "},
		"nothing":         {verdict.Facts{Ranks: 8}, "Rank 3 "},
	} {
		t.Run(name, func(t *testing.T) {
			c.facts.RunSeconds, c.facts.Ended = 10, c.facts.Ranks
			assert.Equal(t, c.says, verdict.Of([]verdict.Cause{slow(nil)}, c.facts).Text[:len(c.says)])
		})
	}
}

// A short run is said to be short, with and without a cause, if a rank ran to its end.
func TestShortRuns(t *testing.T) {
	facts := verdict.Facts{RunSeconds: 0.5, StartEnd: 0.39, Ranks: 4, Ended: 4, Least: 0.1, Most: 0.1, Parallel: new(0.2)}
	assert.Equal(t, "No rank stands out: the 4 ranks compute for 100 ms each, 20% of the 500 ms that the run takes; "+
		"most of the rest, 78%, is the start and the end of MPI, which a longer run would hide. "+
		"The run is too short to say more: 110 ms between the start and the end of MPI.", verdict.Of(nil, facts).Text)
	short := slow(func(c *verdict.Cause) { c.GainSeconds = new(0.05) })
	assert.Regexp(t, `^Rank 3 .* less \(of 500 ms\). The run is short, 110 ms between the start and the end of MPI: a longer one shows this more surely.$`,
		verdict.Of([]verdict.Cause{short}, facts).Text)
	facts.Ended = 0
	assert.NotContains(t, verdict.Of(nil, facts).Text, "short")
	facts.Ended, facts.StartEnd = 4, 0.19
	assert.NotContains(t, verdict.Of(nil, facts).Text, "short")
}

// Without a cause: what the time was spent on instead.
func TestNobody(t *testing.T) {
	facts := func(change func(f *verdict.Facts)) verdict.Facts {
		f := verdict.Facts{RunSeconds: 10, Ranks: 8, Ended: 8, Least: 8.8, Most: 9.2, Parallel: new(0.9)}
		if change != nil {
			change(&f)
		}
		return f
	}
	for name, c := range map[string]struct {
		facts verdict.Facts
		says  string
	}{
		"well spent": {facts(nil), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes."},
		"alike":      {facts(func(f *verdict.Facts) { f.Least, f.Most = 9, 9 }), "No rank stands out: the 8 ranks compute for 9.0 s each, 90% of the 10.0 s that the run takes."},
		"threads":    {facts(func(f *verdict.Facts) { f.OwnThreads, f.InCalls = 0.8, 0.05 }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. For 80% of the time their first threads wait, and other threads of their process run."},
		"in calls":   {facts(func(f *verdict.Facts) { f.OwnThreads, f.InCalls = 0.8, 0.7 }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. For 80% of the time their first threads wait, and other threads of their process run or make MPI calls (at least 70%)."},
		"one":        {facts(func(f *verdict.Facts) { f.Ranks, f.Ended, f.Most = 1, 1, f.Least }), "No rank stands out: the only one computes for 8.8 s, 90% of the 10.0 s that the run takes."},
		"nobody ran": {facts(func(f *verdict.Facts) { f.Ended = 0 }), "No rank ran to its end, so nothing is said of who is slow."},
		"start":      {facts(func(f *verdict.Facts) { f.Parallel, f.StartEnd = new(0.3), 6 }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 30% of the 10.0 s that the run takes; most of the rest, 60%, is the start and the end of MPI, which a longer run would hide."},
		"a call":     {facts(func(f *verdict.Facts) { f.Parallel, f.Costliest, f.CostliestShare = new(0.7), &wait, 0.2 }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 70% of the 10.0 s that the run takes; most of the rest goes to MPI_Waitall at a.c:20 (20% of all ranks' time)."},
		"a call that waits": {facts(func(f *verdict.Facts) {
			f.Parallel, f.Costliest, f.CostliestShare, f.CostliestWaits = new(0.7), &wait, 0.2, new(0.8)
		}), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 70% of the 10.0 s that the run takes; most of the rest goes to MPI_Waitall at a.c:20 (20% of all ranks' time, most of it waiting for whoever happens to be last)."},
		"a part goes to a call": {facts(func(f *verdict.Facts) { f.Parallel, f.Costliest, f.CostliestShare = new(0.5), &wait, 0.2 }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 50% of the 10.0 s that the run takes; the largest part of the rest goes to MPI_Waitall at a.c:20 (20% of all ranks' time)."},
		"harmless":              {facts(func(f *verdict.Facts) { f.Harmless = new(slow(nil)) }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. Rank 3 computes longer than the others, but that costs the run next to nothing."},
		"several harmless":      {facts(func(f *verdict.Facts) { f.Harmless = new(several(nil)) }), "No rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. Ranks 4-7 compute longer than the others, but that costs the run next to nothing."},
		"sums":                  {facts(func(f *verdict.Facts) { f.SumsOnly = true }), "No verdict: by the sums no rank stands out: the 8 ranks compute between 8.8 s and 9.2 s each, 90% of the 10.0 s that the run takes. The times of single calls were not kept (timing aggregated), so what ranks wait for is not known."},
	} {
		t.Run(name, func(t *testing.T) {
			v := verdict.Of(nil, c.facts)
			assert.Equal(t, c.says, v.Text)
			assert.Equal(t, verdict.Nobody, v.Blames)
			assert.Nil(t, v.Rank)
			assert.Zero(t, *v.GainSeconds)
			assert.NotNil(t, v.Causes, "[] in JSON, not null")
		})
	}
}
