//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// storageTroubles make the storage or its key unusable. Each has its own connection to MinIO, so
// that it affects no other row.
var storageTroubles = []scenario{
	{name: "store away at the start, 1 min", expected: "StorageReady=False, then a whole report", run: awayAt("start", "", time.Minute)},
	{name: "store away while the job runs, 1 min", expected: "a whole report", run: awayAt("running", "Running", time.Minute)},
	{name: "store away while collecting, 15 s", expected: "a whole report", quick: true,
		run: awayAt("collecting-briefly", "Collecting", 15*time.Second)},
	{name: "store away while collecting, 1 min", expected: "a whole report", run: awayAt("collecting", "Collecting", time.Minute)},
	{name: "store away while analyzing, 1 min", expected: "a whole report", run: awayAt("analyzing", "Analyzing", time.Minute)},
	// a large job's report has a pod of its own, so that there is time to take the storage away
	{name: "store away while reporting, 1 min", expected: "a whole report", run: awayAt("reporting", "Reporting", time.Minute, change{"merge.fanIn", int64(2)})},
	{name: "store away for good at the start", expected: "the job runs after a bounded wait, StorageReady=False", run: awayForGood},
	{name: "store away longer than the grace", expected: "lost ranks named", run: awayBeyondTheGrace},
	{name: "wrong key in the middle", expected: "AccessDenied said, then a report once the key is right", run: wrongKey},
}

// A way is the connection of one row to MinIO: a proxy in its own pod. Deleting the pod also
// interrupts requests in flight: packets to a pod that is gone get no response.
type way struct {
	t    *testing.T
	name string
}

const proxy = `use IO::Socket::INET; use IO::Select; $SIG{CHLD} = "IGNORE";
my $l = IO::Socket::INET->new(LocalPort => 9000, Listen => 64, ReuseAddr => 1) or die $!;
while (my $c = $l->accept) { if (fork) { close $c; next }
  my $s = IO::Socket::INET->new("cairn-minio.cairn-system:9000") or exit;
  my $q = IO::Select->new($c, $s);
  while (my @r = $q->can_read) { for my $i (@r) { my $o = $i == $c ? $s : $c; my $b; sysread($i, $b, 65536) or exit;
    while (length $b) { my $n = syswrite($o, $b) // exit; substr($b, 0, $n) = "" } } } exit }`

// newWay makes the proxy and returns it with the storage that a job must name to use it.
func newWay(t *testing.T, name string) (*way, change) {
	t.Helper()
	w := &way{t, "way-" + name}
	quoted, err := json.Marshal(proxy)
	require.NoError(t, err)
	apply(t, fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: cairn-system}
spec: {selector: {way: %[1]s}, ports: [{port: 9000}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: cairn-system}
spec:
  replicas: 1
  selector: {matchLabels: {way: %[1]s}}
  template:
    metadata: {labels: {way: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - {name: proxy, image: %[2]q, imagePullPolicy: IfNotPresent, command: [perl, -e, %[3]s], ports: [{containerPort: 9000}]}
`, w.name, stacks[0].image, quoted))
	t.Cleanup(func() {
		_, _ = tryKubectl("", "-n", "cairn-system", "delete", "deployment,service", w.name, "--wait=false")
	})
	kubectl(t, "-n", "cairn-system", "rollout", "status", "deployment/"+w.name, "--timeout=60s")
	return w, change{"storage.s3", map[string]any{"endpoint": "http://" + w.name + ".cairn-system:9000", "bucket": "traces", "region": "us-east-1", "pathStyle": true}}
}

func (w *way) cut() {
	w.t.Helper()
	kubectl(w.t, "-n", "cairn-system", "scale", "deployment/"+w.name, "--replicas=0")
	kubectl(w.t, "-n", "cairn-system", "wait", "--for=delete", "pod", "-l", "way="+w.name, "--timeout=60s")
}

func (w *way) mend() {
	w.t.Helper()
	kubectl(w.t, "-n", "cairn-system", "scale", "deployment/"+w.name, "--replicas=1")
	kubectl(w.t, "-n", "cairn-system", "rollout", "status", "deployment/"+w.name, "--timeout=60s")
}

// awayAt interrupts the storage for a time, once Ready has a reason.
func awayAt(name, reason string, d time.Duration, changes ...change) func(*testing.T) string {
	return func(t *testing.T) string {
		w, storage := newWay(t, name)
		s := long("m-away-"+name, 5, append(changes, storage)...)
		if reason == "" {
			w.cut()
		}
		begin(t, s)
		if reason == "" {
			awaitReason(t, s, "StorageReady", time.Minute, "Unreachable")
		} else {
			awaitReason(t, s, "Ready", 3*time.Minute, reason)
			w.cut()
		}
		time.Sleep(d)
		w.mend()
		return wholeReport(t, end(t, s, 0))
	}
}

// awayForGood: with failurePolicy Ignore, the default, a storage that never works does not keep a
// job from running.
func awayForGood(t *testing.T) string {
	w, storage := newWay(t, "for-good")
	s := matrixStencil("m-away-for-good", storage, change{"tracing.gracePeriodSeconds", int64(10)}, change{"tracing.collectTimeoutSeconds", int64(5)})
	w.cut()
	begin(t, s)
	j := await(t, s.namespace, s.name, 5*time.Minute, "the launcher's end", func(j *job) bool { return j.condition("JobFinished").Status == "True" })
	assert.Equal(t, "Succeeded", j.condition("JobFinished").Reason)
	assert.Equal(t, "Unreachable", j.condition("StorageReady").Reason, "%+v", j.condition("StorageReady"))
	assert.Contains(t, j.condition("StorageReady").Message, w.name, "who cannot be reached")
	return fmt.Sprintf("%s, StorageReady=%s %s", j.condition("JobFinished").Reason, j.condition("StorageReady").Status, j.condition("StorageReady").Reason)
}

// awayBeyondTheGrace: the ranks of pods that had to end while the storage did not respond are lost,
// and named.
func awayBeyondTheGrace(t *testing.T) string {
	w, storage := newWay(t, "beyond")
	s := long("m-away-beyond", 6, storage, change{"tracing.gracePeriodSeconds", int64(15)}, change{"tracing.collectTimeoutSeconds", int64(10)},
		change{template + "runPolicy.cleanPodPolicy", "All"})
	begin(t, s)
	awaitReason(t, s, "Ready", 3*time.Minute, "Running")
	w.cut()
	awaitReason(t, s, "JobFinished", 3*time.Minute, "Succeeded", "Failed")
	eventually(t, s, 3*time.Minute, "no worker", func() bool {
		for name := range pods(t, s.namespace, s.name) {
			if strings.Contains(name, "worker") {
				return false
			}
		}
		return true
	})
	w.mend()
	j := end(t, s, 0)
	said := j.condition("TraceCollected").Message + j.condition("Ready").Message
	for rank := range 4 {
		assert.Contains(t, said, fmt.Sprintf("rank %d", rank), "%+v", j.Status)
	}
	return seenOf(j)
}

// wrongKey: a key that is replaced by a wrong one while the job runs, and repaired after a minute.
func wrongKey(t *testing.T) string {
	const secret = "m-key"
	var right struct{ Data map[string][]byte }
	get(t, &right, "-n", "e2e", "secret", "cairn-storage")
	put := func(secretKey string) {
		t.Helper()
		apply(t, fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: e2e}\nstringData: {accessKey: %q, secretKey: %q}\n",
			secret, right.Data["accessKey"], secretKey))
	}
	put(string(right.Data["secretKey"]))
	t.Cleanup(func() { _, _ = tryKubectl("", "-n", "e2e", "delete", "secret", secret) })
	s := long("m-wrong-key", 5, change{"storage.s3", map[string]any{"endpoint": "http://cairn-minio.cairn-system:9000", "bucket": "traces",
		"region": "us-east-1", "pathStyle": true, "credentialsSecretName": secret}})
	begin(t, s)
	awaitReason(t, s, "Ready", 3*time.Minute, "Running")
	put("wrong-" + strings.Repeat("x", 20))
	j := awaitReason(t, s, "StorageReady", 4*time.Minute, "AccessDenied")
	assert.Contains(t, j.condition("StorageReady").Message, secret)
	put(string(right.Data["secretKey"]))
	return wholeReport(t, end(t, s, 0))
}
