//go:build mpi

package mpi

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/export/simgrid"
	predictions "github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// asPredicted are SimGrid's options for the model of package predict: no message waits for its
// receive, and a collective takes log2 P latencies.
var asPredicted = []string{
	"--cfg=smpi/async-small-thresh:2000000000", "--cfg=smpi/send-is-detached-thresh:2000000000",
	"--cfg=smpi/barrier:ompi_bruck", "--cfg=smpi/allreduce:rdb", "--cfg=smpi/alltoall:bruck", "--cfg=smpi/bcast:binomial_tree",
	"--cfg=smpi/reduce:binomial",
}

// smpirun is how long SimGrid says that an export takes.
func smpirun(t *testing.T, dir string, options ...string) time.Duration {
	t.Helper()
	c := exec.Command("smpirun", append([]string{"-platform", "platform.xml", "-hostfile", "hostfile", "-replay", "traces.txt"}, options...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	time := regexp.MustCompile(`Simulation time ([0-9.]+)`).FindSubmatch(out)
	require.NotNil(t, time, "%s", out)
	seconds, err := strconv.ParseFloat(string(time[1]), 64)
	require.NoError(t, err)
	return duration(seconds)
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * 1e9) }

// Two ranks: MPI_Init is a barrier, of one latency; then rank 0 computes for 10 ms and
// sends 10 MB, which takes 1 ms and a latency of 2 ms; rank 1 computes for 3 ms more, and
// MPI_Finalize is a barrier again.
func TestSimGridOfAKnownRun(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 1).Send(11, 12, 1).Finalize(13, 20)
	b.Rank(1).Init(0, 1).Recv(1, 14, 0, 10_000_000).Finalize(17, 20)
	dir := t.TempDir()
	o := simgrid.Options{Latency: 2 * time.Millisecond, Bandwidth: 10}
	_, err := simgrid.Write(context.Background(), dir, timeline.Of(b.Open(t)), o)
	require.NoError(t, err)
	assert.InDelta(t, 20*time.Millisecond, smpirun(t, dir, asPredicted...), float64(2*time.Microsecond))
}

// For simulated runs on another network, SimGrid, which only gets the actions, agrees with predict.
func TestSimGridAgreesWithPredict(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all")
	}
	for _, pattern := range []string{"stencil2d", "ring", "master-worker", "tree", "wavefront", "random", "irregular", "multipartition"} {
		for _, bytes := range []int{1024, 200_000} {
			t.Run(fmt.Sprintf("%s %d", pattern, bytes), func(t *testing.T) {
				c := simulate.Config{Pattern: pattern, Ranks: 16, Bytes: bytes, Imbalance: simulate.Imbalance{Noise: 20}}
				tr := timeline.Of(tracetest.Open(t, tracetest.Simulated(t, c)))
				dir := t.TempDir()
				s, err := simgrid.Write(context.Background(), dir, tr, simgrid.Options{Latency: 20 * time.Microsecond, Bandwidth: 10})
				require.NoError(t, err)
				assert.Empty(t, s.LeftOut)
				lengths, err := predictions.Play(context.Background(), tr, nil, []predictions.Scenario{
					{Network: &predictions.Network{Latency: 20_000, PerByte: 0.1, Handshakes: 2_000_000_000}},
				})
				require.NoError(t, err)
				assert.InEpsilon(t, time.Duration(lengths[0]), smpirun(t, dir, asPredicted...), 0.005)
			})
		}
	}
}
