//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkSeconds measures how long a job takes from apply to its launcher, traced and plain
// in turns, and from its end to the report; -benchtime Nx says how often.
// `make bench-operator` runs it.
func BenchmarkSeconds(t *testing.B) {
	repeats := t.N
	var traced, plain, report []time.Duration
	for i := range repeats {
		s := matrixStencil(fmt.Sprintf("seconds-%d", i))
		started := time.Now()
		begin(t, s)
		traced = append(traced, untilLauncher(t, s, started))
		await(t, s.namespace, s.name, 5*time.Minute, "the job's end", func(j *job) bool { return j.condition("JobFinished").Status == "True" })
		ended := launcherEnd(t, s)
		awaitReady(t, s.namespace, s.name)
		report = append(report, time.Since(ended))
		kubectl(t, "-n", s.namespace, "delete", "tmj", s.name)

		s.name = fmt.Sprintf("seconds-plain-%d", i)
		started = time.Now()
		apply(t, s.plain())
		plain = append(plain, untilLauncher(t, s, started))
		kubectl(t, "-n", s.namespace, "delete", "mpijob", s.name)
	}
	if repeats == 1 {
		return // the testing package tries once before it repeats
	}
	fmt.Printf("\nseconds, medians of %d (least, most)\n", repeats)
	for _, row := range []struct {
		what string
		of   []time.Duration
	}{{"apply to launcher, traced", traced}, {"apply to launcher, plain MPIJob", plain}, {"job's end to report", report}} {
		slices.Sort(row.of)
		fmt.Printf("%-34s %6.1f  (%.1f, %.1f)\n", row.what, row.of[len(row.of)/2].Seconds(), row.of[0].Seconds(), row.of[len(row.of)-1].Seconds())
	}
}

// untilLauncher waits until the launcher's container runs, or has run.
func untilLauncher(t testing.TB, s spec, since time.Time) time.Duration {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		out, _ := tryKubectl("", "-n", s.namespace, "get", "pods", "-l", "training.kubeflow.org/job-name="+s.name+",training.kubeflow.org/job-role=launcher",
			"-o", `jsonpath={.items[*].status.containerStatuses[?(@.name=="launcher")].state}`)
		if strings.Contains(out, "running") || strings.Contains(out, "terminated") {
			return time.Since(since)
		}
	}
	require.FailNow(t, "the launcher did not start")
	return 0
}

// launcherEnd is when the launcher's container ended, to the second that Kubernetes keeps.
func launcherEnd(t testing.TB, s spec) time.Time {
	t.Helper()
	out := kubectl(t, "-n", s.namespace, "get", "tmj", s.name, "-o", "jsonpath={.status.attempts[-1:].finishedAt}")
	at, err := time.Parse(time.RFC3339, out)
	require.NoError(t, err, out)
	return at
}
