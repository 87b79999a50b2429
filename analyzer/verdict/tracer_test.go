package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestTracer(t *testing.T) {
	assertSays(t, map[string]said{
		"tracer": {verdict.Cause{Kind: verdict.Tracer, GainSeconds: new(0.7), Estimate: true}, "The tracer itself makes this job slow. Without that, the run would take about 700 ms less (of 10.0 s)."},
	})
	assertNames(t, map[string]said{
		"tracer": {verdict.Cause{Kind: verdict.Tracer, GainSeconds: new(4.0)}, "the tracer"},
	})
	assertAdvises(t, map[string]advised{
		"tracer": {verdict.Cause{Kind: verdict.Tracer}, verdict.Neighbors{}, []string{"Trace less"}, "messages"},
	})
}
