package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestCPUs(t *testing.T) {
	assertSays(t, map[string]said{
		"too few CPUs":     {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew, GainSeconds: new(4.0)}, "Too few CPUs make this job slow: ranks are ready to compute and wait for a CPU, all alike." + without},
		"limits":           {verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits, GainSeconds: new(4.0)}, "CPU limits make this job slow: they stop the containers of all ranks alike." + without},
		"too few for one":  {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew, Ranks: "0", GainSeconds: new(4.0)}, "Too few CPUs make this job slow: rank 0 is ready to compute and waits for a CPU." + without},
		"the limit of one": {verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits, Ranks: "0", GainSeconds: new(4.0)}, "The CPU limit of its container makes this job slow: it stops rank 0." + without},
	})
	assertNames(t, map[string]said{
		"CPUs":   {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew, GainSeconds: new(4.0)}, "too few CPUs"},
		"limits": {verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits, GainSeconds: new(4.0)}, "CPU limits"},
	})
	assertAdvises(t, map[string]advised{
		"one rank": {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew, Ranks: "0"}, verdict.Neighbors{}, []string{"what else runs on its CPUs"}, "fewer ranks"},
		"too few":  {verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew}, verdict.Neighbors{}, []string{"Give each rank a CPU of its own", "OMP_NUM_THREADS"}, "limits.cpu"},
		"limits":   {verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits}, verdict.Neighbors{}, []string{"Raise the CPU limits"}, "OMP_NUM_THREADS"},
	})
}
