package accounts

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace"
)

// A team of four threads: the first runs for 10 ms, of which the others take their part, and waits
// in the kernel for the rest of the region.
func TestBlockedWhileOwnThreadsRun(t *testing.T) {
	const ms = 1_000_000
	thread := func(tid int, cpu, delay int64) trace.ThreadUsage {
		return trace.ThreadUsage{TID: tid, CPUNS: cpu * ms, RunDelayNS: delay * ms}
	}
	for name, c := range map[string]struct {
		wall, blocked, others int64
		threads               []trace.ThreadUsage
		waits                 int64
	}{
		"one slow thread":               {30, 20, 50, []trace.ThreadUsage{thread(7, 10, 0), thread(8, 30, 0), thread(9, 10, 0), thread(10, 10, 0)}, 20},
		"equal threads, then a sleep":   {30, 20, 30, []trace.ThreadUsage{thread(7, 10, 0), thread(8, 10, 0), thread(9, 10, 0), thread(10, 10, 0)}, 0},
		"a sleep":                       {30, 20, 0, []trace.ThreadUsage{thread(7, 10, 0)}, 0},
		"the slow one waits for a CPU":  {30, 20, 35, []trace.ThreadUsage{thread(7, 10, 0), thread(8, 15, 15), thread(9, 10, 0), thread(10, 10, 0)}, 20},
		"threads of which there's none": {30, 20, 25, nil, 15},
		"threads that have ended":       {30, 20, 30, []trace.ThreadUsage{thread(7, 10, 0)}, 20},
		"not known":                     {30, 20, -1, []trace.ThreadUsage{thread(7, 10, 0)}, 0},
	} {
		o := &OffCPU{Wall: c.wall * ms, Blocked: c.blocked * ms, Others: c.others * ms}
		a := &Accounts{
			Ranks:  []trace.Rank{{PID: 7, Threads: c.threads}},
			MainOf: []int{0}, Each: []Account{{OffCPU: map[Activity]*OffCPU{{}: o}}},
		}
		a.takeOwnThreads()
		assert.InDelta(t, c.waits*ms, o.Threads, 1, name)
		assert.Equal(t, c.blocked*ms, o.Threads+o.Blocked, name)
	}
	o := &OffCPU{Wall: 30, Blocked: 20, Others: 30, Bytes: 1 << 20, data: 20}
	a := &Accounts{Ranks: []trace.Rank{{}}, MainOf: []int{0}, Each: []Account{{OffCPU: map[Activity]*OffCPU{{}: o}}}}
	a.takeOwnThreads()
	assert.Equal(t, int64(20), o.Blocked, "it waits for files")
}
