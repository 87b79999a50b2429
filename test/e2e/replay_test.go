//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReplay records a job, in which no rank is slow, and re-executes its trace in another job,
// with another MPI and without the program: it makes the same calls.
func TestReplay(t *testing.T) {
	t.Parallel()
	j, environment := balanced(t, "recorded", stacks[1])

	mpirun := []string{"mpirun." + stacks[0].mpi, "-n", "4", "--mca", "mpi_yield_when_idle", "1"}
	again := spec{name: "replayed", namespace: j.Metadata.Namespace, stack: stacks[0], changes: []change{
		{"replay.trace", j.Status.Runs[0].TraceURI},
		{"replay.compute", "Sleep"},
		{launcherTemplate + "containers.0.args", words(mpirun)},
	}}
	k, _ := runToReport(t, again)
	assertNoCredentials(t, pods(t, again.namespace, again.name))

	want, have := communication(t, environment, j), communication(t, environment, k)
	assert.NotEmpty(t, want)
	assert.Equal(t, want, have)
}

// communication counts a run's calls by function and peer, of those functions that move data.
func communication(t *testing.T, environment []string, j *job) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for line := range strings.Lines(cairn(t, environment, "dump", j.Status.Runs[0].TraceURI, "--json")) {
		var call struct {
			Rank      int            `json:"rank"`
			Function  string         `json:"function"`
			Arguments map[string]any `json:"args"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &call), line)
		switch call.Function {
		case "MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce", "MPI_Cart_create":
			about, err := json.Marshal([]any{call.Function, call.Rank, call.Arguments["dest"], call.Arguments["source"], call.Arguments["tag"], call.Arguments["count"]})
			require.NoError(t, err)
			counts[string(about)]++
		}
	}
	return counts
}
