//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// root is the project's folder: tests run in their package's.
func root() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}

// kubectl runs kubectl and fails the test when it fails.
func kubectl(t testing.TB, arguments ...string) string {
	t.Helper()
	out, err := tryKubectl("", arguments...)
	require.NoError(t, err, "kubectl %s: %s", strings.Join(arguments, " "), out)
	return out
}

func tryKubectl(stdin string, arguments ...string) (string, error) {
	cmd := exec.Command("kubectl", arguments...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String() + stderr.String(), err
	}
	return stdout.String(), nil
}

// apply applies a manifest the way the README tells users to.
func apply(t testing.TB, manifest string) {
	t.Helper()
	out, err := tryKubectl(manifest, "apply", "--server-side", "-f", "-")
	require.NoError(t, err, out+"\n"+manifest)
}

// get reads an object into v.
func get(t testing.TB, v any, arguments ...string) {
	t.Helper()
	out := kubectl(t, append(append([]string{"get"}, arguments...), "-o", "json")...)
	require.NoError(t, json.Unmarshal([]byte(out), v), out)
}

// job is what the tests read of a TracedMPIJob.
type job struct {
	Metadata struct{ Name, Namespace, UID string }
	Status   struct {
		StorageURI     string
		CompletionTime string
		Verdict        string
		RunCount       int
		Lost           []string
		PodFailures    []string
		Attempts       []struct{ ExitCode *int }
		Runs           []struct {
			ID           string
			Attempt      int
			Ranks        int
			MissingRanks string
			Calls        int64
			CallsLost    int64
			TraceBytes   int64
			TraceURI     string
			ReportURI    string
			Efficiency   int `json:"parallelEfficiencyPercent"`
		}
		Conditions []condition
	}
}

type condition struct{ Type, Status, Reason, Message string }

func (j *job) condition(kind string) condition {
	for _, c := range j.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return condition{Type: kind}
}

// await waits until done returns true for a state of the job. If that does not happen, it reports
// the last state.
func await(t testing.TB, namespace, name string, limit time.Duration, what string, done func(*job) bool) *job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	last := &job{}
	for ctx.Err() == nil { // again after the end of a watch, for example by the API server
		if watch(ctx, namespace, name, func(j *job) bool { last = j; return done(j) }) {
			return last
		}
		time.Sleep(200 * time.Millisecond)
	}
	explain(t, namespace, name, what, limit, last)
	return nil
}

// watch calls done with every state of a job, and reports whether it returned true before the watch
// ended. The job is not an argument of kubectl: of a single object kubectl reads the state, then
// watches, and drops the first event, which may be a newer state.
func watch(ctx context.Context, namespace, name string, done func(*job) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, "kubectl", "-n", namespace, "get", "tracedmpijob",
		"--field-selector=metadata.name="+name, "--watch", "-o", "json")
	states, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return false
	}
	defer func() {
		cancel()
		_ = cmd.Wait()
	}()
	for decoder := json.NewDecoder(states); ; {
		j := &job{}
		if decoder.Decode(j) != nil {
			return false
		}
		if done(j) {
			return true
		}
	}
}

// eventually waits for what is not in the job's status.
func eventually(t testing.TB, s spec, limit time.Duration, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			j := &job{}
			get(t, j, "-n", s.namespace, "tracedmpijob", s.name)
			explain(t, s.namespace, s.name, what, limit, j)
		}
	}
}

// explain ends a test that waited in vain.
func explain(t testing.TB, namespace, name, what string, limit time.Duration, last *job) {
	t.Helper()
	pods, _ := tryKubectl("", "-n", namespace, "get", "pods", "-o", "wide")
	logs, _ := tryKubectl("", "-n", "cairn-system", "logs", "deployment/cairn-operator", "--tail=40")
	require.FailNow(t, "timeout", "%s/%s: %s did not come within %s\n%+v\n%s\n%s",
		namespace, name, what, limit, last.Status, pods, logs)
}

// awaitReady waits for the end: a report, or the final state without one.
func awaitReady(t testing.TB, namespace, name string) *job {
	t.Helper()
	return await(t, namespace, name, 5*time.Minute, "Ready=True", func(j *job) bool {
		return j.condition("Ready").Status == "True"
	})
}

// pods are a job's pods by name.
func pods(t testing.TB, namespace, name string) map[string]pod {
	t.Helper()
	var list struct{ Items []pod }
	get(t, &list, "-n", namespace, "pods", "-l", "training.kubeflow.org/job-name="+name)
	byName := map[string]pod{}
	for _, p := range list.Items {
		byName[p.Metadata.Name] = p
	}
	return byName
}

type pod struct {
	Metadata struct{ Name, UID string }
	Spec     struct {
		NodeName       string
		Containers     []container
		InitContainers []container
		Volumes        []map[string]any
	}
}

type container struct {
	Name         string
	Env          []map[string]any
	EnvFrom      []map[string]any
	VolumeMounts []struct{ Name, MountPath, SubPath string }
}

// bucket makes the chart's MinIO reachable for the cairn command and returns its environment.
func bucket(t testing.TB, namespace string) []string {
	t.Helper()
	forward := exec.Command("kubectl", "-n", "cairn-system", "port-forward", "service/cairn-minio", ":9000")
	stdout, err := forward.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, forward.Start())
	t.Cleanup(func() {
		_ = forward.Process.Kill()
		_ = forward.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "kubectl port-forward said nothing")
	match := regexp.MustCompile(`127\.0\.0\.1:(\d+)`).FindStringSubmatch(line)
	require.NotNil(t, match, line)

	var secret struct{ Data map[string]string }
	get(t, &secret, "-n", namespace, "secret", "cairn-storage")
	decode := func(key string) string {
		raw, err := base64.StdEncoding.DecodeString(secret.Data[key])
		require.NoError(t, err)
		return string(raw)
	}
	return append(os.Environ(), "CAIRN_S3_ENDPOINT=http://127.0.0.1:"+match[1], "CAIRN_S3_PATH_STYLE=true", "CAIRN_S3_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID="+decode("accessKey"), "AWS_SECRET_ACCESS_KEY="+decode("secretKey"))
}

// cairn runs bin/cairn on objects of the bucket.
func cairn(t testing.TB, environment []string, arguments ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(root(), "bin", "cairn"), arguments...)
	cmd.Env = environment
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "cairn %s: %s", strings.Join(arguments, " "), stderr.String())
	return stdout.String()
}

// namespaceFor returns a namespace that the chart serves: hack/e2e.sh installs the chart for these
// before.
func namespaceFor(t testing.TB, name string) string {
	t.Helper()
	_, err := tryKubectl("", "get", "namespace", name)
	require.NoError(t, err, "namespace %s is missing: hack/e2e.sh makes it", name)
	return name
}
