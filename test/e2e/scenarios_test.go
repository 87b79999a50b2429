//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var scenarios = slices.Concat(ways, troubles, manyRuns, storageTroubles)

// ways are ways to run a job; each ends with a whole report.
var ways = []scenario{
	{name: "Open MPI 4", expected: "report of all ranks", run: whole(func() spec { return matrixStencil("m-openmpi4") })},
	{name: "MPICH", expected: "report of all ranks", run: whole(func() spec {
		s := matrixStencil("m-mpich")
		s.stack = stacks[1]
		return s
	})},
	{name: "Open MPI 5", expected: "report of all ranks", run: whole(func() spec {
		s := matrixStencil("m-openmpi5")
		s.stack = stacks[2]
		return s
	})},
	{name: "restricted namespace", expected: "report of all ranks", quick: true, run: whole(func() spec {
		s := matrixStencil("m-restricted", restricted()...)
		s.namespace = "e2e-restricted"
		return s
	})},
	{name: "read-only root", expected: "report of all ranks", run: whole(func() spec {
		return matrixStencil("m-readonly", readOnlyRoot()...)
	})},
	{name: "runLauncherAsWorker", expected: "report of all ranks", quick: true, run: whole(func() spec {
		return matrixStencil("m-launcher-works", change{template + "runLauncherAsWorker", true},
			change{template + "mpiReplicaSpecs.Worker.replicas", int64(1)},
			change{launcherTemplate + "containers.0.args", words(stacks[0].mpirun("4", "stencil", "--iterations", "60", "--work-us", "5000", "--slow-rank", "2", "--slow-factor", "3"))})
	})},
	{name: "elastic", expected: "two runs, of 2 and of 4 ranks", run: elastic},
	{name: "suspend and resume", expected: "Suspended, then a report of all ranks", quick: true, run: suspendAndResume},
	{name: "suspend in the middle", expected: "Suspended, then a report of the second run", run: suspendInTheMiddle},
}

// whole runs a job to a complete report. The named rank is not checked: rows run concurrently, so
// that too few CPUs may be what makes this one slow (TestSlowRankIsNamed checks it with jobs that
// run alone).
func whole(of func() spec) func(*testing.T) string {
	return func(t *testing.T) string {
		s := of()
		begin(t, s)
		return wholeReport(t, end(t, s, 0))
	}
}

// restricted is what the Pod Security level "restricted" asks of the user's containers.
func restricted() []change {
	changes := readOnlyRoot()
	for _, pod := range []string{launcherTemplate, workerTemplate} {
		changes = append(changes,
			change{pod + "securityContext", map[string]any{
				"runAsNonRoot": true, "runAsUser": int64(1000), "fsGroup": int64(1000), "seccompProfile": map[string]any{"type": "RuntimeDefault"}}})
	}
	return changes
}

// readOnlyRoot makes the root file systems of the user's containers read-only.
func readOnlyRoot() []change {
	var changes []change
	for _, pod := range []string{launcherTemplate, workerTemplate} {
		changes = append(changes,
			change{pod + "containers.0.securityContext", map[string]any{
				"runAsUser": int64(1000), "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "runAsNonRoot": true,
				"capabilities": map[string]any{"drop": []any{"ALL"}}, "seccompProfile": map[string]any{"type": "RuntimeDefault"}}},
			change{pod + "volumes", []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}}},
			change{pod + "containers.0.volumeMounts", []any{map[string]any{"name": "tmp", "mountPath": "/tmp"}}})
	}
	return changes
}

// elastic scales the workers from 1 to 2 between two mpiruns of one launcher.
func elastic(t *testing.T) string {
	s := matrixStencil("m-elastic", change{template + "mpiReplicaSpecs.Worker.replicas", int64(1)})
	ring := func(n string) string { return strings.Join(s.stack.mpirun(n, "ring", "--iterations", "200"), " ") }
	s.script = ring("2") + `; echo first; until [ "$(wc -l </etc/mpi/hostfile)" -ge 2 ]; do sleep 1; done
for h in $(sed 's/[: ].*//' /etc/mpi/hostfile); do until (exec 3<>"/dev/tcp/$h/2222") 2>/dev/null; do sleep 1; done; done; ` + ring("4")
	begin(t, s)
	eventually(t, s, 3*time.Minute, "the first run's end", func() bool {
		log, _ := tryKubectl("", "-n", s.namespace, "logs", "-l", "training.kubeflow.org/job-name="+s.name+",training.kubeflow.org/job-role=launcher", "-c", "launcher")
		return strings.Contains(log, "first")
	})
	kubectl(t, "-n", s.namespace, "patch", "tmj", s.name, "--type=merge", "-p", `{"spec":{"mpiJobTemplate":{"spec":{"mpiReplicaSpecs":{"Worker":{"replicas":2}}}}}}`)
	j := end(t, s, 0)
	require.Len(t, j.Status.Runs, 2, "%+v", j.Status)
	assert.Equal(t, []int{2, 4}, []int{j.Status.Runs[0].Ranks, j.Status.Runs[1].Ranks})
	return wholeReport(t, j)
}

func setSuspend(t *testing.T, s spec, to bool) {
	t.Helper()
	kubectl(t, "-n", s.namespace, "patch", "tmj", s.name, "--type=merge", "-p", fmt.Sprintf(`{"spec":{"suspend":%v}}`, to))
}

func suspendAndResume(t *testing.T) string {
	s := matrixStencil("m-suspended", change{"suspend", true})
	begin(t, s)
	awaitReason(t, s, "Ready", time.Minute, "Suspended")
	assert.Empty(t, pods(t, s.namespace, s.name), "a suspended job has no pods")
	setSuspend(t, s, false)
	return wholeReport(t, end(t, s, 0))
}

func suspendInTheMiddle(t *testing.T) string {
	s := long("m-suspended-later", 8)
	begin(t, s)
	awaitReason(t, s, "Ready", 2*time.Minute, "Running")
	time.Sleep(2 * time.Second)
	setSuspend(t, s, true)
	awaitReason(t, s, "Ready", time.Minute, "Suspended")
	eventually(t, s, 3*time.Minute, "no pods", func() bool { return len(pods(t, s.namespace, s.name)) == 0 })
	setSuspend(t, s, false)
	j := end(t, s, 0)
	assert.Equal(t, "True", j.condition("Ready").Status, "%+v", j.Status)
	require.NotEmpty(t, j.Status.Runs)
	assert.Empty(t, j.Status.Runs[len(j.Status.Runs)-1].MissingRanks)
	return seenOf(j)
}
