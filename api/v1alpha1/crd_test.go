package v1alpha1_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/internal/apiserver"
)

var server *apiserver.Server

func TestMain(m *testing.M) { apiserver.Main(m, &server) }

// administrator is a client that all tests share.
var administrator = sync.OnceValues(func() (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.New(server.Config, client.Options{Scheme: scheme})
})

func newClient(t *testing.T) client.Client {
	t.Helper()
	c, err := administrator()
	require.NoError(t, err)
	return c
}

// create creates an object for the time of a test.
func create(t *testing.T, object client.Object) {
	t.Helper()
	c := newClient(t)
	require.NoError(t, c.Create(t.Context(), object))
	t.Cleanup(func() { require.NoError(t, c.Delete(context.Background(), object)) })
}

// valid is the smallest TracedMPIJob that makes sense.
const valid = `
apiVersion: cairn.dev/v1alpha1
kind: TracedMPIJob
metadata: {name: NAME, namespace: default}
spec:
  mpiJobTemplate:
    spec:
      slotsPerWorker: 2
      mpiReplicaSpecs:
        Launcher:
          template: {spec: {containers: [{name: launcher, image: app, args: [mpirun, app]}]}}
        Worker:
          replicas: 2
          template:
            metadata: {labels: {queue: fast}, annotations: {note: kept}}
            spec: {containers: [{name: worker, image: app, ports: [{containerPort: 22}]}]}
`

func object(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(strings.Replace(valid, "NAME", name, 1)), &u.Object))
	return u
}

// set puts value at a dotted path, making the maps on the way.
func set(u *unstructured.Unstructured, path string, value any) {
	if err := unstructured.SetNestedField(u.Object, value, strings.Split(path, ".")...); err != nil {
		panic(err)
	}
}

func unset(u *unstructured.Unstructured, path string) {
	unstructured.RemoveNestedField(u.Object, strings.Split(path, ".")...)
}

func TestDefaults(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	create(t, object(t, "defaults"))

	var job v1alpha1.TracedMPIJob
	require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "defaults"}, &job))
	tracing := job.Spec.Tracing
	require.Equal(t, v1alpha1.TracingEnabled, tracing.Mode)
	require.Equal(t, v1alpha1.FailurePolicyIgnore, tracing.FailurePolicy)
	require.Equal(t, v1alpha1.TimingLossy, tracing.Timing.Mode)
	require.Equal(t, v1alpha1.InitialStateOn, tracing.InitialState)
	require.EqualValues(t, 5, *tracing.Timing.ErrorPercent)
	require.Equal(t, "2Gi", tracing.Spool.SizeLimit.String())
	require.EqualValues(t, 120, *tracing.GracePeriodSeconds)
	require.EqualValues(t, 300, *tracing.CollectTimeoutSeconds)
	require.Equal(t, v1alpha1.DeletionPolicyRetain, job.Spec.Storage.DeletionPolicy)
	require.Nil(t, job.Spec.Storage.S3)
	require.EqualValues(t, 256, *job.Spec.Merge.FanIn)
	require.Equal(t, []v1alpha1.Analysis{{Name: "critical-path"}, {Name: "clustering"}}, job.Spec.Analyses)

	worker := job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Worker"].Template
	require.Equal(t, "fast", worker.Labels["queue"], "labels of pod templates must not be pruned")
	require.Equal(t, "kept", worker.Annotations["note"])
}

// TestWebIdentityDefaults: naming it is enough; the Secret's name stays, and is not used.
func TestWebIdentityDefaults(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	u := object(t, "web-identity")
	set(u, "spec.storage.s3", map[string]any{"bucket": "traces", "endpoint": "http://minio:9000", "webIdentity": map[string]any{}})
	create(t, u)
	var job v1alpha1.TracedMPIJob
	require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web-identity"}, &job))
	require.Equal(t, &v1alpha1.WebIdentity{Audience: v1alpha1.DefaultTokenAudience}, job.Spec.Storage.S3.WebIdentity)
	require.Equal(t, v1alpha1.DefaultCredentialsSecretName, job.Spec.Storage.S3.CredentialsSecretName)
}

func TestRejections(t *testing.T) {
	const launcher = "spec.mpiJobTemplate.spec.mpiReplicaSpecs.Launcher"
	for _, test := range []struct {
		name   string
		change func(*unstructured.Unstructured)
		want   string
	}{
		{"name too long", func(u *unstructured.Unstructured) { u.SetName(strings.Repeat("a", 41)) }, "at most 40 characters"},
		{"name with a dot", func(u *unstructured.Unstructured) { u.SetName("a.b") }, "must start with a letter"},
		{"name starting with a digit", func(u *unstructured.Unstructured) { u.SetName("1a") }, "must start with a letter"},
		{"no template", func(u *unstructured.Unstructured) { unset(u, "spec.mpiJobTemplate") }, "spec.mpiJobTemplate: Required"},
		{"no launcher", func(u *unstructured.Unstructured) { unset(u, launcher) }, "must have a Launcher"},
		{"suspend in the template", func(u *unstructured.Unstructured) {
			set(u, "spec.mpiJobTemplate.spec.runPolicy.suspend", true)
		}, "set spec.suspend of the TracedMPIJob"},
		{"MPI implementation", func(u *unstructured.Unstructured) {
			set(u, "spec.mpiJobTemplate.spec.mpiImplementation", "LAM")
		}, `Unsupported value: "LAM"`},
		{"tracing mode", func(u *unstructured.Unstructured) { set(u, "spec.tracing.mode", "Sometimes") }, `Unsupported value: "Sometimes"`},
		{"clustering without its mode", func(u *unstructured.Unstructured) {
			set(u, "spec.tracing.clustering", map[string]any{"arguments": "Ignored"})
		}, "clustering goes with mode Clustered"},
		{"clustering of aggregated times", func(u *unstructured.Unstructured) {
			set(u, "spec.tracing.mode", "Clustered")
			set(u, "spec.tracing.timing.mode", "Aggregated")
		}, "mode Clustered needs the times of calls"},
		{"frames", func(u *unstructured.Unstructured) {
			set(u, "spec.tracing.mode", "Clustered")
			set(u, "spec.tracing.clustering", map[string]any{"frames": int64(65)})
		}, "less than or equal to 64"},
		{"failure policy", func(u *unstructured.Unstructured) { set(u, "spec.tracing.failurePolicy", "Retry") }, `Unsupported value: "Retry"`},
		{"initial state", func(u *unstructured.Unstructured) { set(u, "spec.tracing.initialState", "Maybe") }, `Unsupported value: "Maybe"`},
		{"unknown group", func(u *unstructured.Unstructured) { set(u, "spec.tracing.exclude", []any{"ptp"}) }, `Unsupported value: "ptp"`},
		{"group twice", func(u *unstructured.Unstructured) { set(u, "spec.tracing.include", []any{"rma", "rma"}) }, "Duplicate value"},
		{"include and exclude", func(u *unstructured.Unstructured) {
			set(u, "spec.tracing.include", []any{"p2p"})
			set(u, "spec.tracing.exclude", []any{"io"})
		}, "include and exclude do not go together"},
		{"timing mode", func(u *unstructured.Unstructured) { set(u, "spec.tracing.timing.mode", "Exact") }, `Unsupported value: "Exact"`},
		{"error of a function without lossy timing", func(u *unstructured.Unstructured) {
			set(u, "spec.tracing.timing.mode", "Lossless")
			set(u, "spec.tracing.timing.functions", []any{map[string]any{"name": "MPI_Barrier", "errorPercent": int64(1)}})
		}, "only with mode Lossy"},
		{"error of what is no function", func(u *unstructured.Unstructured) {
			set(u, "spec.tracing.timing.functions", []any{map[string]any{"name": "barrier", "errorPercent": int64(1)}})
		}, "should match"},
		{"function without an error", func(u *unstructured.Unstructured) {
			set(u, "spec.tracing.timing.functions", []any{map[string]any{"name": "MPI_Barrier"}})
		}, "errorPercent: Required"},
		{"error of 0%", func(u *unstructured.Unstructured) { set(u, "spec.tracing.timing.errorPercent", int64(0)) }, "greater than or equal to 1"},
		{"error of 51%", func(u *unstructured.Unstructured) { set(u, "spec.tracing.timing.errorPercent", int64(51)) }, "less than or equal to 50"},
		{"no bucket", func(u *unstructured.Unstructured) { set(u, "spec.storage.s3.endpoint", "http://minio:9000") }, "spec.storage.s3.bucket: Required"},
		{"endpoint without scheme", func(u *unstructured.Unstructured) {
			set(u, "spec.storage.s3.bucket", "traces")
			set(u, "spec.storage.s3.endpoint", "minio:9000")
		}, "spec.storage.s3.endpoint"},
		{"web identity at AWS without a role", func(u *unstructured.Unstructured) {
			set(u, "spec.storage.s3.bucket", "traces")
			set(u, "spec.storage.s3.webIdentity", map[string]any{})
		}, "set webIdentity.roleARN"},
		{"STS without scheme", func(u *unstructured.Unstructured) {
			set(u, "spec.storage.s3", map[string]any{"bucket": "traces", "endpoint": "http://minio:9000"})
			set(u, "spec.storage.s3.webIdentity.stsEndpoint", "minio:9000")
		}, "stsEndpoint"},
		{"deletion policy", func(u *unstructured.Unstructured) { set(u, "spec.storage.deletionPolicy", "Archive") }, `Unsupported value: "Archive"`},
		{"unknown analysis", func(u *unstructured.Unstructured) {
			set(u, "spec.analyses", []any{map[string]any{"name": "horoscope"}})
		}, `Unsupported value: "horoscope"`},
		{"analysis named twice", func(u *unstructured.Unstructured) {
			set(u, "spec.analyses", []any{map[string]any{"name": "clusters"}, map[string]any{"name": "clusters"}})
		}, "Duplicate value"},
		{"negative TTL", func(u *unstructured.Unstructured) { set(u, "spec.ttlSecondsAfterFinished", int64(-1)) }, "greater than or equal to 0"},
		{"no slots", func(u *unstructured.Unstructured) {
			set(u, "spec.mpiJobTemplate.spec.slotsPerWorker", int64(0))
		}, "slotsPerWorker must be at least 1"},
		{"no workers", func(u *unstructured.Unstructured) {
			set(u, "spec.mpiJobTemplate.spec.mpiReplicaSpecs.Worker.replicas", int64(0))
		}, "Worker.replicas must be at least 1"},
		{"two launchers", func(u *unstructured.Unstructured) { set(u, launcher+".replicas", int64(2)) }, "Launcher.replicas must be 1"},
		{"unknown container", func(u *unstructured.Unstructured) { set(u, "spec.tracing.containerName", "mpi") }, "is not a container of the Launcher"},
		{"container of the launcher only", func(u *unstructured.Unstructured) { set(u, "spec.tracing.containerName", "launcher") }, "is not a container of the Worker"},
		{"fan-in of one", func(u *unstructured.Unstructured) { set(u, "spec.merge.fanIn", int64(1)) }, "greater than or equal to 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := object(t, "rejected")
			test.change(u)
			require.ErrorContains(t, newClient(t).Create(context.Background(), u), test.want)
		})
	}
}

// A container that both have may be named, and the launcher's if there are no workers.
func TestContainerName(t *testing.T) {
	both := object(t, "container-name")
	set(both, "spec.mpiJobTemplate.spec.mpiReplicaSpecs.Worker.template.spec.containers", []any{
		map[string]any{"name": "proxy", "image": "proxy"}, map[string]any{"name": "launcher", "image": "app"},
	})
	set(both, "spec.tracing.containerName", "launcher")
	require.NoError(t, newClient(t).Create(context.Background(), both, client.DryRunAll))
	alone := object(t, "container-name")
	unset(alone, "spec.mpiJobTemplate.spec.mpiReplicaSpecs.Worker")
	set(alone, "spec.tracing.containerName", "launcher")
	require.NoError(t, newClient(t).Create(context.Background(), alone, client.DryRunAll))
}

func TestSpoolSize(t *testing.T) {
	const refused = "spool.sizeLimit must be from 16Mi to 16Ti"
	for _, test := range []struct {
		size any
		want string // "": accepted
	}{
		{"16Mi", ""}, {"48Mi", ""}, {"2Gi", ""}, {"1.5Gi", ""}, {"16Ti", ""}, {"2e9", ""}, {int64(16 << 20), ""},
		{int64(1), refused}, {int64(0), refused}, {int64(-5), refused}, {int64(1 << 60), refused},
		{"-5Gi", refused}, {"1", refused}, {"15Mi", refused}, {"16383Ki", refused}, {"17Ti", refused}, {"500m", refused},
		{"much", "spool.sizeLimit"}, {"", "spool.sizeLimit"},
	} {
		t.Run(fmt.Sprint(test.size), func(t *testing.T) {
			u := object(t, "spool-size")
			set(u, "spec.tracing.spool.sizeLimit", test.size)
			err := newClient(t).Create(context.Background(), u, client.DryRunAll)
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.want)
			}
		})
	}
}

func TestPrefix(t *testing.T) {
	for prefix, accepted := range map[string]bool{
		"": true, "lab": true, "lab/": true, "/lab": true, "lab/team-a/2026": true, "a.b/..c/d..": true, "run=7/user@host": true, "/": true,
		"..": false, "../other": false, "lab/../other": false, "lab/..": false, ".": false, "a/./b": false,
		"a//b": false, "//": false, "lab//": false, "a b": false, "a?b": false, "a#b": false, "a%2e": false, `a\b`: false, "ä": false, "a\nb": false,
	} {
		t.Run(prefix, func(t *testing.T) {
			u := object(t, "prefix")
			set(u, "spec.storage.s3", map[string]any{"bucket": "traces", "prefix": prefix})
			err := newClient(t).Create(context.Background(), u, client.DryRunAll)
			if accepted {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "spec.storage.s3.prefix")
			}
		})
	}
}

func TestImmutability(t *testing.T) {
	const template = "spec.mpiJobTemplate.spec."
	ctx := context.Background()
	c := newClient(t)
	create(t, object(t, "immutable"))

	for _, test := range []struct {
		name  string
		path  string
		value any
		want  string // "": the change is allowed
	}{
		{"worker replicas", template + "mpiReplicaSpecs.Worker.replicas", int64(3), ""},
		{"suspend", "spec.suspend", true, ""},
		{"bucket", "spec.storage.s3", map[string]any{"bucket": "other"}, ""},
		{"TTL", "spec.ttlSecondsAfterFinished", int64(60), ""},
		{"slots", template + "slotsPerWorker", int64(4), "mpiJobTemplate is immutable"},
		{"clean-up policy", template + "runPolicy.cleanPodPolicy", "All", "mpiJobTemplate is immutable"},
		{"implementation", template + "mpiImplementation", "MPICH", "mpiJobTemplate is immutable"},
		{"ssh path", template + "sshAuthMountPath", "/home/mpi/.ssh", "mpiJobTemplate is immutable"},
		{"launcher policy", template + "launcherCreationPolicy", "WaitForWorkersReady", "mpiJobTemplate is immutable"},
		{"launcher as worker", template + "runLauncherAsWorker", true, "mpiJobTemplate is immutable"},
		{"launcher template", template + "mpiReplicaSpecs.Launcher.template.spec.hostNetwork", true, "mpiJobTemplate is immutable"},
		{"worker template", template + "mpiReplicaSpecs.Worker.template.spec.hostNetwork", true, "mpiJobTemplate is immutable"},
		{"worker restart policy", template + "mpiReplicaSpecs.Worker.restartPolicy", "OnFailure", "mpiJobTemplate is immutable"},
		{"labels", "spec.mpiJobTemplate.metadata.labels", map[string]any{"a": "b"}, "mpiJobTemplate is immutable"},
		{"tracing", "spec.tracing.mode", "Disabled", "tracing is immutable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.Kind))
			require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "immutable"}, u))
			set(u, test.path, test.value)
			err := c.Update(ctx, u)
			if test.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.want)
			}
		})
	}

	t.Run("dropping the workers", func(t *testing.T) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.Kind))
		require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "immutable"}, u))
		unset(u, template+"mpiReplicaSpecs.Worker")
		require.ErrorContains(t, c.Update(ctx, u), "mpiJobTemplate is immutable")
	})
}

// TestObjectsFromBeforeTheRules: an object that was stored when the schema allowed more is not
// stuck. Its status and its finalizers can be written.
func TestObjectsFromBeforeTheRules(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	require.NoError(t, c.Get(ctx, client.ObjectKey{Name: "tracedmpijobs.cairn.dev"}, crd))
	setSpec := func(spec any) {
		current := crd.DeepCopy()
		require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(crd), current))
		current.Object["spec"] = spec
		require.NoError(t, c.Update(ctx, current))
	}
	old := crd.DeepCopy()
	dropRules(old.Object["spec"])
	setSpec(old.Object["spec"])
	restore := func() { setSpec(crd.DeepCopy().Object["spec"]) }
	t.Cleanup(restore)

	made := func(name string) *unstructured.Unstructured {
		u := object(t, name)
		set(u, "spec.tracing.spool.sizeLimit", "-5Gi")
		set(u, "spec.mpiJobTemplate.spec.slotsPerWorker", int64(0))
		set(u, "spec.mpiJobTemplate.spec.mpiReplicaSpecs.Worker.replicas", int64(0))
		set(u, "spec.tracing.containerName", "mpi")
		set(u, "spec.storage.s3", map[string]any{"bucket": "traces", "prefix": "a/../b"})
		return u
	}
	u := made("older")
	require.Eventually(t, func() bool { return c.Create(ctx, u) == nil },
		time.Minute, 20*time.Millisecond)
	restore()
	require.Eventually(t, func() bool { return c.Create(ctx, made("newer"), client.DryRunAll) != nil },
		time.Minute, 20*time.Millisecond)

	var job v1alpha1.TracedMPIJob
	require.NoError(t, c.Get(ctx, client.ObjectKeyFromObject(u), &job))
	before := job.DeepCopy()
	job.Status.Verdict = "seen"
	require.NoError(t, c.Status().Patch(ctx, &job, client.MergeFrom(before)))
	before = job.DeepCopy()
	job.Finalizers = []string{"cairn.dev/delete-trace"}
	require.NoError(t, c.Patch(ctx, &job, client.MergeFrom(before)))
	require.NoError(t, c.Delete(ctx, &job))
	before = job.DeepCopy()
	job.Finalizers = nil
	require.NoError(t, c.Patch(ctx, &job, client.MergeFrom(before)))
}

// dropRules takes CEL rules and patterns out of a schema.
func dropRules(schema any) {
	switch of := schema.(type) {
	case map[string]any:
		delete(of, "x-kubernetes-validations")
		if _, is := of["pattern"].(string); is {
			delete(of, "pattern")
		}
		for _, value := range of {
			dropRules(value)
		}
	case []any:
		for _, value := range of {
			dropRules(value)
		}
	}
}

// TestColumns asks for the table that `kubectl get tmj` prints.
func TestColumns(t *testing.T) {
	ctx := context.Background()
	c := newClient(t)
	create(t, object(t, "columns"))
	var job v1alpha1.TracedMPIJob
	require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "columns"}, &job))

	efficiency := int32(87)
	job.Status.Verdict = "Rank 3 is slow"
	job.Status.Runs = []v1alpha1.Run{
		{ID: "0/0", Ranks: 1},
		{ID: "1/0", Attempt: 1, Ranks: 4, Calls: 1234, TraceBytes: 5678, ParallelEfficiencyPercent: &efficiency},
	}
	job.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReportReady,
		LastTransitionTime: metav1.Now(),
	}}
	require.NoError(t, c.Status().Update(ctx, &job))

	table := kubectl(t, "get", "tmj", "columns", "-o", "wide")
	for _, want := range []string{"STATE", "RANKS", "CALLS", "TRACE-BYTES", "PE %", "AGE", "VERDICT",
		"ReportReady", "1234", "5678", "87", "Rank 3 is slow"} {
		require.Contains(t, table, want)
	}
	require.NotContains(t, kubectl(t, "get", "tmj", "columns"), "VERDICT")
	require.Contains(t, kubectl(t, "explain", "tmj.spec.tracing.failurePolicy"), "Ignore runs it untraced")
}
