package verdict_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// The advice depends on the kind and the form of a cause, on the difference between its ranks and
// others, and on where they run.
func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		cause     verdict.Cause
		neighbors verdict.Neighbors
		says      []string
		never     string
	}{
		"longer each time":  {slow(nil), verdict.Neighbors{}, []string{"Look at the code that runs between MPI_Send at a.c:10 and MPI_Waitall at a.c:20.", "as often as the others, but longer"}, "given more work"},
		"more often":        {slow(func(c *verdict.Cause) { c.OthersOf = 60 }), verdict.Neighbors{}, []string{"more often than the others: it was given more work"}, "but longer"},
		"fewer, but longer": {slow(func(c *verdict.Cause) { c.OthersOf = 150 }), verdict.Neighbors{}, []string{"longer for each task"}, "as often"},
		"nobody else":       {slow(func(c *verdict.Cause) { c.OthersSeconds, c.OthersOf = nil, 0 }), verdict.Neighbors{}, []string{"Hardly any other rank computes there"}, "as often"},
		"stopped":           {slow(func(c *verdict.Cause) { c.Form, c.StoppedSeconds = verdict.Stopped, 3 }), verdict.Neighbors{}, []string{"Raise the CPU limit", "for 3.0 s"}, "as often"},
		"preempted":         {slow(func(c *verdict.Cause) { c.Form = verdict.Preempted }), verdict.Neighbors{}, []string{"what else runs on its CPUs"}, "as often"},
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

		"gradient":  {unequal(verdict.Gradient, verdict.ByRank, nil), verdict.Neighbors{}, []string{"how work is divided", "depends on the rank number"}, "iteration"},
		"by node":   {unequal(verdict.Heavy, verdict.ByNode, nil), verdict.Neighbors{}, []string{"compare the nodes"}, "iteration"},
		"by row":    {unequal(verdict.Heavy, verdict.ByRow, nil), verdict.Neighbors{}, []string{"position in the grid"}, "iteration"},
		"by column": {unequal(verdict.Heavy, verdict.ByColumn, nil), verdict.Neighbors{}, []string{"position in the grid"}, "iteration"},
		"moving":    {unequal(verdict.Moving, verdict.ByIteration, nil), verdict.Neighbors{}, []string{"Divide the work of each iteration"}, "grid"},
		"irregular": {unequal(verdict.Heavy, verdict.Irregular, nil), verdict.Neighbors{}, []string{"Divide by what parts cost"}, "grid"},

		"chain":       {verdict.Cause{Kind: verdict.Serialization, Form: verdict.Chain, Before: wait}, verdict.Neighbors{}, []string{"around MPI_Waitall at a.c:20", "start with what they have"}, "work to the other ranks"},
		"master":      {slow(func(c *verdict.Cause) { c.Kind, c.Form = verdict.Serialization, verdict.Master }), verdict.Neighbors{}, []string{"Give parts of that work to the other ranks"}, "critical path"},
		"not posted":  {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: send}, verdict.Neighbors{}, []string{"Post receives earlier", "replace MPI_Send at a.c:10 by a non-blocking send"}, "MPI_Test"},
		"not inside":  {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotInside, Before: send}, verdict.Neighbors{}, []string{"MPI_Test now and then", "replace MPI_Send at a.c:10"}, "Post receives earlier"},
		"small":       {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany, Before: send}, verdict.Neighbors{}, []string{"fewer and larger messages"}, "compressed"},
		"large":       {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: send}, verdict.Neighbors{}, []string{"Send less"}, "fewer"},
		"network":     {verdict.Cause{Kind: verdict.Network, Before: send}, verdict.Neighbors{}, []string{"on one node", "UCX_TLS"}, "compressed"},
		"often":       {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooOften, Before: reduce}, verdict.Neighbors{}, []string{"Call MPI_Allreduce at a.c:30 less often"}, "less data"},
		"much data":   {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooLarge, Before: reduce}, verdict.Neighbors{}, []string{"less data"}, "less often"},
		"late sends":  {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: wait, Completes: true}, verdict.Neighbors{}, []string{"Post receives earlier", "complete later what MPI_Waitall at a.c:20 waits for"}, "replace"},
		"halos":       {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooLarge, Before: wait, Completes: true, AheadSeconds: 2e-5}, verdict.Neighbors{}, []string{"Send less", "now it is started 20 µs before"}, "fewer"},
		"overlap":     {verdict.Cause{Kind: verdict.Collectives, Form: verdict.NoOverlap, Before: wait, Completes: true, AheadSeconds: 0.015}, verdict.Neighbors{}, []string{"started 15 ms before", "call MPI_Test", "progress thread", "Persistent requests"}, "fewer"},
		"waits":       {verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany, Before: wait, Completes: true, Bytes: 8}, verdict.Neighbors{}, []string{"Send fewer and larger messages: collect what goes to one rank and"}, "MPI_Waitall"},
		"started":     {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooOften, Before: wait, Completes: true}, verdict.Neighbors{}, []string{"Start fewer of the collectives that MPI_Waitall at a.c:20 completes"}, "use the non-blocking form"},
		"few":         {verdict.Cause{Kind: verdict.Messages, Before: wait, Bytes: 8, EachSeconds: 0.5}, verdict.Neighbors{}, []string{"in the timeline: they take 500 ms each", "neither their number nor their size"}, "fewer"},
		"unknown":     {verdict.Cause{Kind: verdict.Messages, Before: wait, EachSeconds: 0.5}, verdict.Neighbors{}, []string{"How much data they move is not known"}, "fewer"},
		"between":     {verdict.Cause{Kind: verdict.Network, Form: verdict.TooLarge, Before: send}, verdict.Neighbors{}, []string{"on one node", "Overlap the transfer"}, "fewer"},
		"local":       {verdict.Cause{Kind: verdict.Local, Before: verdict.Call{Function: "MPI_Type_commit"}}, verdict.Neighbors{}, []string{"MPI_Type_commit neither sends anything nor waits", "reuse"}, "collect"},
		"copies":      {verdict.Cause{Kind: verdict.Local, Form: verdict.Copies, Before: verdict.Call{Function: "MPI_Pack"}}, verdict.Neighbors{}, []string{"MPI_Pack copies data", "a derived datatype"}, "reuse"},
		"polls":       {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.Seldom, Ranks: "0", Before: send, EachSeconds: 0.012}, verdict.Neighbors{}, []string{"Poll more often in MPI_Send at a.c:10", "it is idle between two polls, 12 ms on average"}, "non-blocking send"},
		"one rank":    {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew, Ranks: "0"}, verdict.Neighbors{}, []string{"what else runs on its CPUs"}, "fewer ranks"},
		"files":       {verdict.Cause{Kind: verdict.IO}, verdict.Neighbors{}, []string{"Write less often"}, "messages"},
		"blocked all": {verdict.Cause{Kind: verdict.IO, Form: verdict.Blocked}, verdict.Neighbors{}, []string{"from a thread of its own"}, "collective"},
		"start":       {slow(func(c *verdict.Cause) { c.Kind = verdict.StartEnd }), verdict.Neighbors{}, []string{"rank 3 does before MPI_Init"}, "others"},
		"too few":     {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew}, verdict.Neighbors{}, []string{"Give each rank a CPU of its own", "OMP_NUM_THREADS"}, "limits.cpu"},
		"limits":      {verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits}, verdict.Neighbors{}, []string{"Raise the CPU limits"}, "OMP_NUM_THREADS"},
		"tracer":      {verdict.Cause{Kind: verdict.Tracer}, verdict.Neighbors{}, []string{"Trace less"}, "messages"},
	} {
		t.Run(name, func(t *testing.T) {
			steps := c.cause.Advice(c.neighbors)
			text := strings.Join(steps, "\n")
			for _, says := range c.says {
				assert.Contains(t, text, says)
			}
			assert.NotContains(t, text, c.never)
			for _, step := range steps {
				assert.True(t, strings.HasSuffix(step, "."), step)
			}
		})
	}
}
