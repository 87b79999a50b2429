package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestStartEnd(t *testing.T) {
	assertSays(t, map[string]said{
		"late start": {slow(func(c *verdict.Cause) {
			c.Kind, c.Form, c.EachSeconds, c.Estimate = verdict.StartEnd, verdict.Start, 4, true
		}), "Rank 3 (pod w-1, node n2) makes this job slow: it comes to MPI_Init 4.0 s after the others, and all of them wait for it there. Without that, the run would take about 4.0 s less (of 10.0 s)."},
		"late start of one of two": {slow(func(c *verdict.Cause) {
			c.Kind, c.Form, c.EachSeconds, c.Others = verdict.StartEnd, verdict.Start, 4, 1
		}), "Rank 3 (pod w-1, node n2) makes this job slow: it comes to MPI_Init 4.0 s after the other, which waits for it there." + without},
		"late start of several": {several(func(c *verdict.Cause) { c.Kind, c.Form, c.EachSeconds = verdict.StartEnd, verdict.Start, 4 }), "Ranks 4-7 make this job slow: they come to MPI_Init 4.0 s after the others, and all of them wait for them there." + without},
	})
	assertNames(t, map[string]said{
		"start":            {slow(func(c *verdict.Cause) { c.Kind = verdict.StartEnd }), "rank 3, which comes late to MPI_Init"},
		"start of several": {several(func(c *verdict.Cause) { c.Kind = verdict.StartEnd }), "ranks 4-7, which come late to MPI_Init"},
	})
	assertAdvises(t, map[string]advised{
		"start":   {slow(func(c *verdict.Cause) { c.Kind = verdict.StartEnd }), verdict.Neighbors{}, []string{"rank 3 does before MPI_Init", "its pod starts"}, "others"},
		"several": {several(func(c *verdict.Cause) { c.Kind = verdict.StartEnd }), verdict.Neighbors{}, []string{"ranks 4-7 do before MPI_Init", "their pods start"}, "its"},
	})
}
