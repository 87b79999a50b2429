//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFailedApplicationStillGetsAReport: exit code 3, no retry.
func TestFailedApplicationStillGetsAReport(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all: TestAttemptsAreSeparateRuns has such a job, which is retried")
	}
	t.Parallel()
	s := spec{name: "exits-three", namespace: namespaceFor(t, "e2e"), stack: stacks[0], program: "early-exit", arguments: []string{"--exit", "3"}}
	apply(t, s.manifest())
	j := awaitReady(t, s.namespace, s.name)
	finished := j.condition("JobFinished")
	assert.Equal(t, "True", finished.Status)
	assert.Equal(t, "Failed", finished.Reason)
	assert.Contains(t, finished.Message, "3")
	require.Len(t, j.Status.Runs, 1)
	assert.NotEmpty(t, j.Status.Runs[0].ReportURI)
	assert.Contains(t, cairn(t, bucket(t, s.namespace), "report", j.Status.Runs[0].ReportURI), "ank")
}

// TestAttemptsAreSeparateRuns: the same failure twice gives two runs in two attempts. A Job with a
// pod that restarts by itself (OnFailure) kills the attempt with which its limit is reached as soon
// as that has begun: it needs one more.
func TestAttemptsAreSeparateRuns(t *testing.T) {
	t.Parallel()
	for restart, backoffLimit := range map[string]int{"Never": 1, "OnFailure": 2} {
		if testing.Short() && restart != "Never" {
			continue
		}
		t.Run(restart, func(t *testing.T) {
			t.Parallel()
			s := spec{name: "twice-" + strings.ToLower(restart), namespace: namespaceFor(t, "e2e"), stack: stacks[0], program: "early-exit",
				arguments: []string{"--exit", "3"}, backoffLimit: backoffLimit, restartPolicy: restart}
			apply(t, s.manifest())
			j := awaitReady(t, s.namespace, s.name)
			assert.Equal(t, "Failed", j.condition("JobFinished").Reason)
			assert.Contains(t, j.condition("JobFinished").Message, "code 3")
			require.GreaterOrEqual(t, len(j.Status.Runs), 2, "%+v", j.Status)
			for i, run := range j.Status.Runs[:2] {
				assert.Equal(t, i, run.Attempt)
				assert.Equal(t, 4, run.Ranks)
				assert.Contains(t, cairn(t, bucket(t, s.namespace), "report", run.ReportURI), "ank")
			}
		})
	}
}

// TestOperatorKilledDuringCollection: conditions survive the operator, so that another one finishes
// the job.
func TestOperatorKilledDuringCollection(t *testing.T) {
	t.Parallel()
	s := spec{name: "orphaned", namespace: namespaceFor(t, "e2e"), stack: stacks[0], program: "stencil", arguments: []string{"--iterations", "20"}}
	apply(t, s.manifest())
	await(t, s.namespace, s.name, 3*time.Minute, "JobFinished=True", func(j *job) bool { return j.condition("JobFinished").Status == "True" })
	kubectl(t, "-n", "cairn-system", "delete", "pod", "-l", "app.kubernetes.io/component=operator", "--grace-period=0", "--force")
	j := awaitReady(t, s.namespace, s.name)
	require.Len(t, j.Status.Runs, 1)
	assert.Equal(t, 4, j.Status.Runs[0].Ranks)
}

// TestMissingSecretIsMendedByTheCommandOfTheCondition runs in a namespace that is not in the
// chart's values.
func TestMissingSecretIsMendedByTheCommandOfTheCondition(t *testing.T) {
	t.Parallel()
	const namespace = "e2e-bare"
	_, _ = tryKubectl("", "delete", "namespace", namespace, "--wait")
	kubectl(t, "create", "namespace", namespace)
	t.Cleanup(func() { _, _ = tryKubectl("", "delete", "namespace", namespace, "--wait=false") })
	s := spec{name: "no-secret", namespace: namespace, stack: stacks[0], program: "ring"}
	apply(t, s.manifest())
	j := await(t, namespace, s.name, 2*time.Minute, "StorageReady=False", func(j *job) bool { return j.condition("StorageReady").Status == "False" })
	message := j.condition("StorageReady").Message
	require.Contains(t, message, "kubectl -n "+namespace+" create secret generic cairn-storage")
	_, err := tryKubectl("", "-n", namespace, "get", "mpijob", s.name)
	require.Error(t, err, "the MPIJob is not created before storage works")

	// the command of the message, with the placeholders filled in as an administrator would: the
	// users that the chart makes see their own namespace only
	var admin struct{ Data map[string][]byte }
	get(t, &admin, "-n", "cairn-system", "secret", "cairn-minio")
	kubectl(t, "-n", namespace, "create", "secret", "generic", "cairn-storage",
		"--from-literal=accessKey="+string(admin.Data["accessKey"]), "--from-literal=secretKey="+string(admin.Data["secretKey"]))
	done := awaitReady(t, namespace, s.name)
	assert.Equal(t, "True", done.condition("StorageReady").Status)
	assert.NotEmpty(t, done.Status.Runs)
}

// TestInvalidTemplateIsReported: the upstream validation's own words, with the path of the field.
func TestInvalidTemplateIsReported(t *testing.T) {
	t.Parallel()
	s := spec{name: "invalid", namespace: namespaceFor(t, "e2e"), stack: stacks[0], program: "ring"}
	manifest := strings.Replace(s.manifest(), "mpiImplementation: OpenMPI", "mpiImplementation: LAM", 1)
	out, err := tryKubectl(manifest, "apply", "--server-side", "-f", "-")
	if err != nil {
		assert.Contains(t, out, "mpiImplementation")
		return
	}
	j := await(t, s.namespace, s.name, time.Minute, "Ready=False", func(j *job) bool { return j.condition("Ready").Status == "False" })
	assert.Contains(t, j.condition("Ready").Message, "mpiImplementation")
	kubectl(t, "-n", s.namespace, "delete", "tracedmpijob", s.name)
}
