//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyRuns are jobs of several runs, and several jobs.
var manyRuns = []scenario{
	{name: "3 runs", expected: "3 reports", quick: true, run: runs(3)},
	{name: "17 runs", expected: "17 reports, 16 runs in status", run: runs(17)},
	{name: "100 mpiruns", expected: "100 reports, no pod evicted, spool emptied", run: runs(100, change{"tracing.spool.sizeLimit", "48Mi"})},
	{name: "20 jobs at once", expected: "20 reports", alone: true, run: manyJobs},
	{name: "only clusters", expected: "a report without a critical path", run: analyses("m-clusters", "clusters")},
	{name: "no analyses", expected: "a report without findings", run: analyses("m-none")},
	{name: "spool full", expected: "CallsLost: how many of how many; exit code 0", run: spoolFull},
	{name: "launcher retried", expected: "a run per attempt, no pod evicted", run: retried},
}

// runs starts n mpiruns one after the other in one launcher.
func runs(n int, changes ...change) func(*testing.T) string {
	return func(t *testing.T) string {
		s := matrixStencil(fmt.Sprintf("m-runs-%d", n), changes...)
		ring := strings.Join(s.stack.mpirun("2", "ring", "--iterations", "100", "--work-us", "10"), " ")
		// Open MPI 4's mpirun sometimes ends with 141 after ranks that ended well
		// (openpmix/openpmix#1863)
		s.script = fmt.Sprintf("for i in $(seq %d); do %s >/dev/null || [ $? = 141 ]; done", n, ring)
		begin(t, s)
		j := end(t, s, 0)
		assert.Equal(t, n, j.Status.RunCount, "%+v", j.Status)
		assert.Len(t, j.Status.Runs, min(n, 16))
		assert.Empty(t, j.Status.PodFailures, "pods that were evicted")
		for _, run := range j.Status.Runs {
			assert.NotEmpty(t, run.ReportURI, run.ID)
		}
		environment := bucket(t, s.namespace)
		assert.Equal(t, n, strings.Count(cairn(t, environment, "copy", j.Status.StorageURI, t.TempDir()), "/report/index.html"), "a report for each run")
		assertSpoolEmptied(t, s)
		return wholeReport(t, j)
	}
}

// assertSpoolEmptied checks, in the workers that are still running, that what is in the bucket is
// no longer in their spools.
func assertSpoolEmptied(t *testing.T, s spec) {
	t.Helper()
	for name := range pods(t, s.namespace, s.name) {
		if !strings.Contains(name, "worker") {
			continue
		}
		out, err := tryKubectl("", "-n", s.namespace, "exec", name, "-c", "worker", "--", "sh", "-c", "ls -d /cairn/spool/*-*-* 2>/dev/null | wc -l")
		require.NoError(t, err, out)
		assert.Equal(t, "0", strings.TrimSpace(out), "process directories left in the spool of %s", name)
	}
}

func manyJobs(t *testing.T) string {
	const n = 20
	var specs []spec
	for i := range n { // 40 pods: the two nodes share one machine
		s := matrixStencil(fmt.Sprintf("m-many-%d", i), change{template + "mpiReplicaSpecs.Worker.replicas", int64(1)})
		s.script = strings.Join(s.stack.mpirun("2", "ring", "--iterations", "200"), " ")
		specs = append(specs, s)
		begin(t, s)
	}
	good := 0
	for _, s := range specs {
		if j := end(t, s, 0); assert.Equal(t, "True", j.condition("Ready").Status, "%s: %+v", s.name, j.Status) {
			good++
		}
	}
	return fmt.Sprintf("%d reports", good)
}

// analyses asks for some analyses only.
func analyses(name string, names ...string) func(*testing.T) string {
	return func(t *testing.T) string {
		list := []any{}
		for _, n := range names {
			list = append(list, map[string]any{"name": n})
		}
		s := matrixStencil(name, change{"analyses", list})
		begin(t, s)
		j := end(t, s, 0)
		assert.Equal(t, "True", j.condition("Ready").Status, "%+v", j.Status)
		require.Len(t, j.Status.Runs, 1)
		assert.NotEmpty(t, j.Status.Runs[0].ReportURI)
		assert.NotContains(t, j.Status.Verdict, "ank 2", "nothing is said that was not computed")
		return seenOf(j)
	}
}

// spoolFull keeps every time stamp of more calls than the spool has room for.
func spoolFull(t *testing.T) string {
	s := matrixStencil("m-full", change{"tracing.spool.sizeLimit", "16Mi"}, change{"tracing.timing.mode", "Lossless"})
	s.script = strings.Join(s.stack.mpirun("2", "ring", "--iterations", "4000000", "--work-us", "0"), " ")
	begin(t, s)
	j := end(t, s, 0)
	collected := j.condition("TraceCollected")
	assert.Equal(t, "CallsLost", collected.Reason, "%+v", j.Status)
	assert.Contains(t, collected.Message, " of ")
	assert.Equal(t, "True", j.condition("Ready").Status)
	assert.Contains(t, j.Status.Verdict, "not recorded")
	require.NotEmpty(t, j.Status.Runs)
	assert.Positive(t, j.Status.Runs[0].CallsLost)
	return seenOf(j)
}

// retried lets the launcher fail three times in workers that live on.
func retried(t *testing.T) string {
	s := matrixStencil("m-retried", change{"tracing.spool.sizeLimit", "48Mi"})
	s.program, s.arguments, s.backoffLimit = "early-exit", []string{"--exit", "3"}, 3
	begin(t, s)
	j := end(t, s, 3)
	assert.GreaterOrEqual(t, j.Status.RunCount, 4, "%+v", j.Status)
	assert.Empty(t, j.Status.PodFailures, "pods that were evicted")
	assert.Equal(t, "JobFailedReportReady", j.condition("Ready").Reason)
	return seenOf(j)
}
