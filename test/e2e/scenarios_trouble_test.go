//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// troubles are refusals, and processes and pods that are killed.
var troubles = []scenario{
	{name: "quota refuses pods", expected: "the quota's words within a minute, then a whole report", quick: true, run: quotaRefuses},
	{name: "negative sizeLimit", expected: "refused at once", run: negativeSizeLimit},
	{name: "operator killed at each step", expected: "a whole report", run: operatorKilled},
	{name: "sidecar killed at each step", expected: "a whole report", run: sidecarKilled},
	{name: "worker force-deleted", expected: "a report; ranks that ended early or are missing named", quick: true, run: workerDeleted},
}

// quotaRefuses: a quota of the namespace leaves no room for the workers. Its message is only in an
// event of the MPIJob.
func quotaRefuses(t *testing.T) string {
	const namespace = "e2e-quota"
	s := matrixStencil("m-quota")
	s.namespace = namespace
	apply(t, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: e2e-quota}\nspec: {hard: {pods: \"1\"}}\n")
	t.Cleanup(func() { _, _ = tryKubectl("", "-n", namespace, "delete", "resourcequota", "few") })
	begin(t, s)
	j := await(t, namespace, s.name, 90*time.Second, "the quota's words", func(j *job) bool {
		return strings.Contains(j.condition("Ready").Message, "exceeded quota: few")
	})
	assert.NotContains(t, j.condition("Ready").Message, "{", "no raw JSON")
	kubectl(t, "-n", namespace, "delete", "resourcequota", "few")
	return wholeReport(t, end(t, s, 0))
}

func negativeSizeLimit(t *testing.T) string {
	s := matrixStencil("m-negative", change{"tracing.spool.sizeLimit", "-5Gi"})
	out, err := tryKubectl(s.manifest(), "apply", "--server-side", "-f", "-")
	require.Error(t, err, out)
	assert.Contains(t, out, "sizeLimit")
	return "refused: " + lastLine(out)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	last := lines[len(lines)-1]
	return last[:min(len(last), 80)]
}

// operatorKilled force-deletes the operator whenever the job has come one step further.
func operatorKilled(t *testing.T) string {
	s := long("m-operator-killed", 5)
	begin(t, s)
	killed := 0
	for _, reason := range []string{"Starting", "Running", "Collecting", "Analyzing", "Reporting"} {
		j := await(t, s.namespace, s.name, 4*time.Minute, reason, func(j *job) bool {
			return j.condition("Ready").Reason == reason || after(reason, j.condition("Ready").Reason)
		})
		if j.condition("Ready").Reason == reason {
			kubectl(t, "-n", "cairn-system", "delete", "pod", "-l", "app.kubernetes.io/component=operator", "--grace-period=0", "--force")
			killed++
		}
	}
	assert.GreaterOrEqual(t, killed, 3)
	return wholeReport(t, end(t, s, 0)) + ", killed " + strconv.Itoa(killed) + " times"
}

// after reports whether a reason of Ready comes later in a job's life than another.
func after(reason, other string) bool {
	order := "Pending Checking StorageNotReady Starting Running Collecting Analyzing Reporting ReportReady JobFailedReportReady"
	return strings.Index(order, other) > strings.Index(order, reason)
}

// sidecarKilled kills the sidecars of the workers while ranks run, when they have ended, and while
// the merge waits. The processes of a local cluster's nodes are processes of this machine.
func sidecarKilled(t *testing.T) string {
	s := long("m-sidecar-killed", 6)
	begin(t, s)
	killed := 0
	for _, reason := range []string{"Running", "Running", "Collecting"} {
		j := awaitReason(t, s, "Ready", 4*time.Minute, reason, "Analyzing", "Reporting", "ReportReady")
		for _, pid := range sidecars(t, j.Metadata.UID) {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
		time.Sleep(3 * time.Second)
	}
	assert.GreaterOrEqual(t, killed, 4)
	return wholeReport(t, end(t, s, 0)) + ", killed " + strconv.Itoa(killed) + " times"
}

// sidecars are the processes of a job's sidecars: its UID is in their command lines.
func sidecars(t *testing.T, uid string) []int {
	t.Helper()
	require.NotEmpty(t, uid)
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	var pids []int
	for _, file := range lines {
		line, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(line, []byte("\x00ship\x00")) || !bytes.Contains(line, []byte(uid)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

// awaitRanks waits until ranks in a worker have begun: an mpirun that runs may still
// be starting them.
func awaitRanks(t *testing.T, s spec, worker string) {
	t.Helper()
	eventually(t, s, 3*time.Minute, "ranks in "+worker, func() bool {
		_, err := tryKubectl("", "-n", s.namespace, "exec", worker, "-c", "worker", "--", "sh", "-c", "ls /cairn/spool/*-*-*/process.json")
		return err == nil
	})
}

// workerDeleted: a worker that is deleted ends the job. Its sidecar may still send its data; in
// both cases its ranks are named.
func workerDeleted(t *testing.T) string {
	s := long("m-deleted", 60, change{"tracing.collectTimeoutSeconds", int64(20)})
	begin(t, s)
	awaitRanks(t, s, s.name+"-worker-1")
	time.Sleep(3 * time.Second)
	kubectl(t, "-n", s.namespace, "delete", "pod", s.name+"-worker-1", "--grace-period=0", "--force")
	j := await(t, s.namespace, s.name, 5*time.Minute, "the end", func(j *job) bool { return j.Status.CompletionTime != "" })
	assert.Equal(t, "Failed", j.condition("JobFinished").Reason)
	assert.Equal(t, "True", j.condition("Ready").Status, "%+v", j.Status)
	require.NotEmpty(t, j.Status.Runs)
	assert.Equal(t, 4, j.Status.Runs[0].Ranks)
	assert.Regexp(t, `ranks (0-3|2-3)`, j.condition("TraceCollected").Message)
	return seenOf(j)
}
