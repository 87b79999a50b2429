package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestVariationInWords(t *testing.T) {
	varies := func(form verdict.Form, change func(c *verdict.Cause)) verdict.Cause {
		c := verdict.Cause{
			Kind: verdict.Variation, Form: form, Instances: 3, Of: 150, First: 1, EachSeconds: 1.1, OthersSeconds: new(0.005), GainSeconds: new(3.3),
			After: verdict.Call{Function: "MPI_Bcast", CallSite: "a.c:1"}, Before: verdict.Call{Function: "MPI_Wait", CallSite: "a.c:2"},
		}
		change(&c)
		return c
	}
	const at = " between MPI_Bcast at a.c:1 and MPI_Wait at a.c:2"
	const gain = ". Without that, the run would take 3.3 s less (of 9.0 s)."
	for want, c := range map[string]verdict.Cause{
		"A slow start makes this job slow: the ranks compute for 1.1 s in each of the first 3 of 150 times" + at + ", later for 5 ms; each has 1,000 page faults on average": varies(verdict.WarmUp, func(c *verdict.Cause) { c.PageFaults = 1000 }),
		"A slow start makes this job slow: the ranks compute for 1.1 s the first of 150 times, most of all" + at + ", later for 5 ms":                                        varies(verdict.WarmUp, func(c *verdict.Cause) { c.Instances, c.Regions = 1, 2 }),
		"This job becomes ever slower: the ranks compute for 5 ms each time" + at + " at first, and for 1.1 s in the end; the kernel works for 900 ms of that":               varies(verdict.Drift, func(c *verdict.Cause) { c.SystemSeconds = 0.9 }),
		"A single long computation makes this job slow: the ranks compute for 1.1 s in one of 150 times (the 1st)" + at + ", otherwise for 5 ms":                             varies(verdict.Once, func(*verdict.Cause) {}),
		"A single stop makes this job slow: rank 3 (host h) spends 1.1 s in one of 150 times (the 1st)" + at + ", otherwise 5 ms; for 1.0 s of that it is blocked in the kernel": varies(verdict.Once, func(c *verdict.Cause) {
			c.Ranks, c.Rank, c.Host, c.BlockedSeconds = "3", new(3), "h", 1
		}),
		"Rare long computations make this job slow: 6 of 2,400, now on one rank and now on another, take 1.1 s (for 1.0 s of that they are blocked in the kernel, with 1.0 MiB read or written meanwhile)" + at + "; the others take 5 ms there": varies(verdict.Sometimes, func(c *verdict.Cause) {
			c.Instances, c.Of, c.BlockedSeconds, c.Bytes, c.LongRanks = 6, 2400, 1, 1<<20, "0,7"
		}),
		"Rare long computations make this job slow: 5 of 198, all of them on rank 0 so far, take 1.1 s (meanwhile up to 24 MiB are read or written)" + at + "; the others take 5 ms there": varies(verdict.Sometimes, func(c *verdict.Cause) {
			c.Instances, c.Of, c.Bytes, c.LongRanks = 5, 198, 24<<20, "0"
		}),
	} {
		v := verdict.Of([]verdict.Cause{c}, verdict.Facts{RunSeconds: 9, Ranks: 4})
		assert.Equal(t, want+gain, v.Text)
		v = verdict.Of([]verdict.Cause{c}, verdict.Facts{RunSeconds: 9, Ranks: 4, StartEnd: 4})
		assert.Equal(t, want+gain+" The start and the end of MPI take 4.0 s of the run, which a longer run would hide.", v.Text)
		assert.NotEmpty(t, c.Short())
		assert.Len(t, c.Advice(verdict.Neighbors{}), 2)
	}
}

// What else runs on the machines is worth a look only if the ranks were blocked and moved no data.
func TestAdviceOnVariation(t *testing.T) {
	for want, c := range map[string]verdict.Cause{
		"garbage collection":  {},
		"another job":         {BlockedSeconds: 1},
		"read or written":     {BlockedSeconds: 1, Bytes: 1 << 20},
		"less often, from a ": {Bytes: 1 << 20},
	} {
		c.Kind, c.Form = verdict.Variation, verdict.Sometimes
		assert.Contains(t, c.Advice(verdict.Neighbors{})[1], want)
	}
}
