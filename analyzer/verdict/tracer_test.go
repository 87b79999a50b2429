package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestTracer(t *testing.T) {
	assertSays(t, map[string]said{
		"tracer": {verdict.Cause{Kind: verdict.Tracer, GainSeconds: new(0.7), Estimate: true}, "The tracer itself makes this job slow. Without that, the run would take about 700 ms less (of 10.0 s)."},
		"compressor": {verdict.Cause{Kind: verdict.Tracer, Form: verdict.Compressor, CompressorSeconds: 3.25, WaitedSeconds: 4.5, GainSeconds: new(1.5), Estimate: true},
			"The tracer itself makes this job slow: its compressor took 3.2 s of CPU time, and ranks waited for a CPU for 4.5 s. Without that, the run would take about 1.5 s less (of 10.0 s)."},
	})
	assertNames(t, map[string]said{
		"tracer": {verdict.Cause{Kind: verdict.Tracer, GainSeconds: new(4.0)}, "the tracer"},
	})
	assertAdvises(t, map[string]advised{
		"tracer":     {verdict.Cause{Kind: verdict.Tracer}, verdict.Neighbors{}, []string{"Trace less"}, "messages"},
		"compressor": {verdict.Cause{Kind: verdict.Tracer, Form: verdict.Compressor}, verdict.Neighbors{}, []string{"Leave a CPU of each node to the tracer"}, "messages"},
	})
}
