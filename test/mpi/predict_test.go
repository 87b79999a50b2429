//go:build mpi

package mpi

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A whatIf is an example, a change for `cairn predict`, and the example changed accordingly. At
// most two ranks compute at the same time, so that two cores are enough.
type whatIf struct {
	name    string
	program string
	ranks   int
	is      []string // the example's arguments
	change  []string // predict's
	would   []string // the changed example's arguments
}

var whatIfs = []whatIf{
	{
		"a slow rank computes as the other", "stencil", 2,
		[]string{"--iterations", "12", "--work-us", "50000", "--slow-rank", "1"},
		[]string{"--compute", "1=0.333333"},
		[]string{"--iterations", "12", "--work-us", "50000"},
	},
	{
		"a rank computes three times as long", "stencil", 2,
		[]string{"--iterations", "12", "--work-us", "50000"},
		[]string{"--compute", "1=3"},
		[]string{"--iterations", "12", "--work-us", "50000", "--slow-rank", "1"},
	},
	{
		"all compute half as long, wildcards", "master_worker", 3,
		[]string{"--tasks", "6", "--work-us", "40000"},
		[]string{"--compute", "all=0.5"},
		[]string{"--tasks", "6", "--work-us", "20000"},
	},
	{
		"all compute twice as long, large messages", "ring", 2,
		[]string{"--iterations", "8", "--work-us", "40000", "--bytes", "1000000"},
		[]string{"--compute", "all=2"},
		[]string{"--iterations", "8", "--work-us", "80000", "--bytes", "1000000"},
	},
	{
		"messages cost nothing", "ring", 2,
		[]string{"--iterations", "8", "--work-us", "20000", "--bytes", "80000000"},
		[]string{"--free", "MPI_Send", "--free", "MPI_Recv"},
		[]string{"--iterations", "8", "--work-us", "20000"},
	},
}

// predicted is the part of a prediction without the launch.
type predicted struct {
	Program struct {
		Measured  float64 `json:"measured_seconds"`
		Predicted float64 `json:"predicted_seconds"`
	} `json:"program"`
}

func predict(t *testing.T, dir string, change ...string) predicted {
	t.Helper()
	r := cairn(t, dir, append([]string{"predict", filepath.Join(dir, "trace.cairn"), "--json"}, change...)...)
	require.Equal(t, 0, r.code, r.stderr)
	var p predicted
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &p))
	return p
}

// TestPredictions: the time predicted from a real run for a changed program is the time that the
// changed program takes. On an idle machine this is so within 15% (make bench-predict, which prints
// a row for each). Here there is other load: the medians of up to three pairs of runs may differ by
// a half, and at least two thirds of the change must be predicted.
func TestPredictions(t *testing.T) {
	pairs := benchPairs(t)
	if pairs > 0 {
		fmt.Printf("%-44s %-8s %10s %10s %10s %8s %8s\n", "change", "MPI", "measured", "predicted", "real", "error", "target")
	}
	for i := range whatIfs {
		w := &whatIfs[i]
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(w.name+" "+implementation, func(t *testing.T) {
				var o outcome
				if pairs > 0 {
					for range pairs {
						o.add(t, w, implementation)
					}
					fmt.Printf("%-44s %-8s %s\n", w.name, implementation, &o)
					return
				}
				for range 3 {
					o.add(t, w, implementation)
					if o.roughly() {
						return
					}
				}
				t.Errorf("measured, predicted, real, error: %s", &o)
			})
		}
	}
}

// benchPairs is how many pairs of runs are measured; 0: tests are run.
func benchPairs(t *testing.T) int {
	t.Helper()
	bench := os.Getenv("CAIRN_BENCH_PREDICT")
	if bench == "" {
		return 0
	}
	pairs, err := strconv.Atoi(bench)
	require.NoError(t, err)
	return pairs
}

// An outcome is what pairs of runs took, the example and the changed one in turn.
type outcome struct{ measured, predicted, real []float64 }

func (o *outcome) add(t *testing.T, w *whatIf, implementation string) {
	t.Helper()
	o.compare(t, launch(implementation, w.ranks, w.program, w.is...), w.change, func() []string {
		return launch(implementation, w.ranks, w.program, w.would...)
	})
}

// compare runs the example, predicts the change, and runs the changed example.
func (o *outcome) compare(t *testing.T, is, change []string, would func() []string) {
	t.Helper()
	r := trace(t, nil, is...)
	require.Equal(t, 0, r.code, r.stderr)
	p := predict(t, r.dir, change...)
	o.measured, o.predicted = append(o.measured, p.Program.Measured), append(o.predicted, p.Program.Predicted)
	r = trace(t, nil, would()...)
	require.Equal(t, 0, r.code, r.stderr)
	o.real = append(o.real, predict(t, r.dir, "--compute", "all=1").Program.Measured)
}

// off is the prediction's error.
func (o *outcome) off() float64 { return median(o.predicted)/median(o.real) - 1 }

// roughly reports whether the prediction is right on a noisy machine.
func (o *outcome) roughly() bool {
	measured := median(o.measured)
	return math.Abs(o.off()) <= 0.5 && (median(o.predicted)-measured)/(median(o.real)-measured) >= 2.0/3
}

// String is a row of the benchmark.
func (o *outcome) String() string {
	verdict := "pass"
	if math.Abs(o.off()) > 0.15 {
		verdict = "miss"
	}
	return fmt.Sprintf("%8.3f s %8.3f s %8.3f s %+7.1f%% %8s %s", median(o.measured), median(o.predicted), median(o.real), 100*o.off(), "15%", verdict)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
