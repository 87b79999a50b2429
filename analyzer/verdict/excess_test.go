package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestExcess(t *testing.T) {
	assertSays(t, map[string]said{
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
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; meanwhile another of its threads computes." + without},
		"writes": {slow(func(c *verdict.Cause) { c.Form, c.Calls = verdict.SysCalls, 9000 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; there it reads or writes at least 9,000 times, and loses its CPU about as often." + without},
		"own threads": {slow(func(c *verdict.Cause) { c.Form = verdict.ByThreads }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it waits for a CPU while the others have one, and meanwhile other threads of its process run." + without},
		"its threads communicate": {slow(func(c *verdict.Cause) { c.Form = verdict.InCalls }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; its first thread waits meanwhile, and other threads of its process make MPI calls." + without},
		"blocked": {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds = verdict.Blocked, 3.9 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that it is blocked in the kernel: it does not compute." + without},
		"several, blocked": {several(func(c *verdict.Cause) { c.Form, c.BlockedSeconds = verdict.Blocked, 3.9 }),
			"Ranks 4-7 make this job slow: they spend 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that they are blocked in the kernel: they do not compute." + without},
		"blocked by files": {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds, c.Bytes = verdict.Blocked, 3.9, 1<<20 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that it is blocked in the kernel, with 1.0 MiB read or written meanwhile: it waits for files." + without},
		"blocked by memory": {slow(func(c *verdict.Cause) {
			c.Form, c.BlockedSeconds, c.MemorySeconds, c.MemoryLimitHits = verdict.Blocked, 3.9, 3.5, 1200
		}),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that it is blocked in the kernel, while its container waited for memory for 3.5 s longer and reached its memory limit 1,200 times: it waits for memory." + without},
		"blocked by memory, no limit reached": {several(func(c *verdict.Cause) { c.Form, c.BlockedSeconds, c.MemorySeconds = verdict.Blocked, 3.9, 3.5 }),
			"Ranks 4-7 make this job slow: they spend 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that they are blocked in the kernel, while their containers waited for memory for 3.5 s longer: they wait for memory." + without},
		"blocked by disks": {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds, c.DiskSeconds = verdict.Blocked, 3.9, 3 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that it is blocked in the kernel, while its container waited for disks for 3.0 s longer: it waits for files." + without},
		"blocked by files at the memory limit": {slow(func(c *verdict.Cause) {
			c.Form, c.BlockedSeconds, c.Bytes, c.MemoryLimitHits = verdict.Blocked, 3.9, 1<<20, 17000
		}),
			"Rank 3 (pod w-1, node n2) makes this job slow: it spends 60 ms each time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20, the others 20 ms; for 3.9 s of that it is blocked in the kernel, with 1.0 MiB read or written meanwhile, and its container reached its memory limit 17,000 times: it waits for files." + without},
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
	})
	assertNames(t, map[string]said{
		"rank":             {several(nil), "ranks 4-7, which compute longer between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"one rank":         {slow(func(c *verdict.Cause) { c.Ranks = "6" }), "rank 6, which computes longer between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"preempted":        {slow(func(c *verdict.Cause) { c.Form = verdict.Preempted }), "rank 3, which waits for a CPU"},
		"stolen":           {several(func(c *verdict.Cause) { c.Form = verdict.Stolen }), "ranks 4-7, which wait for a CPU"},
		"stopped":          {slow(func(c *verdict.Cause) { c.Form, c.EachSeconds = verdict.Stopped, 0 }), "rank 3, which is stopped by a CPU limit"},
		"inside calls":     {several(func(c *verdict.Cause) { c.Form = verdict.Halted }), "ranks 4-7, which are stopped, most of all in MPI_Waitall at a.c:20"},
		"threads in calls": {slow(func(c *verdict.Cause) { c.Form = verdict.InCalls }), "rank 3, which spends longer between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
	})
	assertAdvises(t, map[string]advised{
		"longer each time":  {slow(nil), verdict.Neighbors{}, []string{"Look at the code that runs between MPI_Send at a.c:10 and MPI_Waitall at a.c:20.", "as often as the others, but longer"}, "given more work"},
		"more often":        {slow(func(c *verdict.Cause) { c.OthersOf = 60 }), verdict.Neighbors{}, []string{"more often than the others: it was given more work"}, "but longer"},
		"fewer, but longer": {slow(func(c *verdict.Cause) { c.OthersOf = 150 }), verdict.Neighbors{}, []string{"longer for each task"}, "as often"},
		"nobody else":       {slow(func(c *verdict.Cause) { c.OthersSeconds, c.OthersOf = nil, 0 }), verdict.Neighbors{}, []string{"Hardly any other rank computes there"}, "as often"},
		"stopped":           {slow(func(c *verdict.Cause) { c.Form, c.StoppedSeconds = verdict.Stopped, 3 }), verdict.Neighbors{}, []string{"Raise the CPU limit", "for 3.0 s"}, "as often"},
		"preempted":         {slow(func(c *verdict.Cause) { c.Form = verdict.Preempted }), verdict.Neighbors{}, []string{"what else runs on its CPUs"}, "as often"},
		"inside calls":      {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds = verdict.Halted, 3 }), verdict.Neighbors{}, []string{"SIGSTOP"}, "strace"},
		"stolen":            {slow(func(c *verdict.Cause) { c.Form, c.StolenSeconds = verdict.Stolen, 3 }), verdict.Neighbors{}, []string{"for 3.0 s longer", "below node n2", "Move the pod", "dedicated CPUs"}, "as often"},
		"blocked":           {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds = verdict.Blocked, 3 }), verdict.Neighbors{}, []string{"waits inside the kernel"}, "files"},
		"blocked by files":  {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds, c.Bytes = verdict.Blocked, 3, 100 }), verdict.Neighbors{}, []string{"waits for files"}, "strace"},
		"in a thread":       {slow(func(c *verdict.Cause) { c.Form = verdict.InThread }), verdict.Neighbors{}, []string{"schedule(dynamic)"}, "as often"},
		"threads in calls":  {slow(func(c *verdict.Cause) { c.Form = verdict.InCalls }), verdict.Neighbors{}, []string{"what its other threads wait for"}, "schedule"},
		"sometimes":         {slow(func(c *verdict.Cause) { c.Form, c.Instances = verdict.Sometimes, 12 }), verdict.Neighbors{}, []string{"in 12 of 100 times only"}, "as often"},
		"several":           {several(nil), verdict.Neighbors{}, []string{"They compute there as often as the others", "their CPUs are slower"}, "Nothing else"},
		"several, blocked":  {several(func(c *verdict.Cause) { c.Form, c.BlockedSeconds = verdict.Blocked, 3 }), verdict.Neighbors{}, []string{"They do not compute there but wait inside the kernel"}, "It does"},
		"alone on a node":   {slow(nil), verdict.Neighbors{}, []string{"Nothing else of this job runs on its node n2"}, "Most ranks"},
		"slow neighbors":    {slow(nil), verdict.Neighbors{All: 3, Slower: 2}, []string{"Most ranks on its node n2 are slower than the average too"}, "Nothing else"},
		"fast neighbors":    {slow(nil), verdict.Neighbors{All: 3}, []string{"The other ranks on its node n2 are no slower"}, "Nothing else"},
		"a host":            {slow(func(c *verdict.Cause) { c.Pod, c.Node = "", "" }), verdict.Neighbors{All: 3}, []string{"The other ranks on its host are no slower"}, "node"},
		"a node":            {several(func(c *verdict.Cause) { c.Scope = "node" }), verdict.Neighbors{All: 3, Slower: 3}, []string{"All ranks of that node are slower"}, "Most ranks"},
	})
}

// Ranks that were seen suspended.
func TestSuspended(t *testing.T) {
	suspended := func(c *verdict.Cause) {
		c.Form, c.BlockedSeconds, c.Looks, c.Suspended, c.After, c.Before = verdict.BySignal, 3, 12, 5, verdict.Call{}, verdict.Call{}
	}
	assertSays(t, map[string]said{
		"one": {slow(suspended),
			"Rank 3 (pod w-1, node n2) makes this job slow: for 3.0 s it neither runs nor is ready to run; it was seen suspended, by a signal or a debugger, in 5 of 12 looks." + without},
		"several": {several(suspended),
			"Ranks 4-7 make this job slow: for 3.0 s they neither run nor are ready to run; they were seen suspended, by a signal or a debugger, in 5 of 12 looks." + without},
	})
	assertNames(t, map[string]said{"one": {slow(suspended), "rank 3, which is suspended"}})
	assertAdvises(t, map[string]advised{"one": {slow(suspended), verdict.Neighbors{}, []string{"See who suspends the process", "SIGSTOP"}, "strace"}})
}

// Ranks that something stops inside calls.
func TestHalted(t *testing.T) {
	assertSays(t, map[string]said{
		"stopped inside calls": {slow(func(c *verdict.Cause) { c.Form, c.BlockedSeconds = verdict.Halted, 3 }),
			"Rank 3 (pod w-1, node n2) makes this job slow: for 3.0 s it neither runs nor is ready to run, most of all in MPI_Waitall at a.c:20, although calls of this run poll while they wait: something stops it." + without},
		"node stopped inside calls": {several(func(c *verdict.Cause) { c.Form, c.Scope, c.Node, c.BlockedSeconds = verdict.Halted, "node", "n2", 3 }),
			"Node n2 makes this job slow: its ranks are 4-7, and for 3.0 s they neither run nor are ready to run, most of all in MPI_Waitall at a.c:20, although calls of this run poll while they wait: something stops them." + without},
	})
}
