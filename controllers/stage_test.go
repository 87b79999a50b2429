package controllers

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/controllers/storage"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// stage is a namespace of a real API server in which the test acts as everyone except the operator:
// a person, mpi-operator, the Job controller, the kubelet.
type stage struct {
	*testing.T
	client.Client
	ctx       context.Context
	namespace string
	settings  Settings
	clock     *clocktesting.FakePassiveClock
	events    *events.FakeRecorder
	// after is when the operator asked to be called again.
	after time.Duration
	// created is when objects were created, by UID, and changes the number of accepted changes.
	created map[types.UID]metav1.Time
	changes int
	// known has what was read, by kind and question, and live is true while others write, too.
	known map[string]map[string]answer
	live  bool
	// reads counts the objects that a live operator read, and started the Jobs that it created.
	reads, started atomic.Int64
}

// newStage creates a stage for a test that from here on runs beside others.
func newStage(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	c, err := administrator()
	require.NoError(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "stage-"}}
	require.NoError(t, c.Create(context.Background(), namespace))
	s := &stage{
		T: t, ctx: context.Background(), namespace: namespace.Name,
		settings: Settings{
			Installation: task.Installation{Image: "cairn:test", PullPolicy: corev1.PullIfNotPresent}, Retry: 10 * time.Second, StorageWait: 2 * time.Minute, JobTTL: time.Hour,
			Storage: &v1alpha1.S3Storage{Endpoint: "http://minio:9000", Bucket: "traces", Prefix: "lab/"},
		},
		clock:   clocktesting.NewFakePassiveClock(time.Now().Truncate(time.Second)),
		events:  events.NewFakeRecorder(1000),
		created: map[types.UID]metav1.Time{},
		known:   map[string]map[string]answer{},
	}
	s.Client = stageClient{c, s}
	return s
}

const stencil = `
spec:
  mpiJobTemplate:
    metadata: {labels: {queue: fast}}
    spec:
      slotsPerWorker: 2
      mpiReplicaSpecs:
        Launcher:
          template: {spec: {containers: [{name: launcher, image: app, args: [mpirun, app]}]}}
        Worker:
          replicas: 2
          template: {spec: {containers: [{name: worker, image: app}]}}
`

// apply creates a job, changed by change, and returns its name.
func (s *stage) apply(change ...func(*v1alpha1.TracedMPIJob)) {
	s.Helper()
	job := &v1alpha1.TracedMPIJob{}
	require.NoError(s, yaml.UnmarshalStrict([]byte(stencil), job))
	job.Name, job.Namespace = "stencil", s.namespace
	for _, c := range change {
		c(job)
	}
	require.NoError(s, s.Create(s.ctx, job))
}

// applyWithoutAnalyses creates a job with an empty list of analyses, which the typed
// client leaves out.
func (s *stage) applyWithoutAnalyses() {
	s.Helper()
	job := &unstructured.Unstructured{}
	require.NoError(s, yaml.Unmarshal([]byte(stencil), &job.Object))
	job.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.Kind))
	job.SetName("stencil")
	job.SetNamespace(s.namespace)
	require.NoError(s, unstructured.SetNestedSlice(job.Object, []any{}, "spec", "analyses"))
	require.NoError(s, s.Create(s.ctx, job))
	require.Empty(s, s.job().Spec.Analyses)
}

func (s *stage) job() *v1alpha1.TracedMPIJob {
	s.Helper()
	job := &v1alpha1.TracedMPIJob{}
	require.NoError(s, s.Get(s.ctx, s.key("stencil"), job))
	return job
}

func (s *stage) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.namespace, Name: name}
}

// settle runs a new operator, without any memory, until it changes nothing.
func (s *stage) settle() {
	s.Helper()
	s.settleAs(s.Client)
}

// settleAs does the same with the given client.
func (s *stage) settleAs(c client.Client) {
	s.Helper()
	for range 20 {
		before := s.changes
		r := &Reconciler{Client: c, Live: c, Events: s.events, Clock: s.clock, Settings: s.settings}
		result, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("stencil")})
		require.NoError(s, err)
		s.after = result.RequeueAfter
		if s.changes == before {
			return
		}
	}
	require.FailNow(s, "the operator does not come to rest")
}

func (s *stage) condition(kind string) metav1.Condition {
	s.Helper()
	c := meta.FindStatusCondition(s.job().Status.Conditions, kind)
	require.NotNil(s, c, kind)
	return *c
}

// expect asserts status and reason of a condition and returns its message.
func (s *stage) expect(kind string, status metav1.ConditionStatus, reason string) string {
	s.Helper()
	c := s.condition(kind)
	require.Equal(s, fmt.Sprint(status, " ", reason), fmt.Sprint(c.Status, " ", c.Reason), "%s: %s", kind, c.Message)
	return c.Message
}

func (s *stage) exists(object client.Object, name string) bool {
	s.Helper()
	err := s.Get(s.ctx, s.key(name), object)
	if client.IgnoreNotFound(err) != nil {
		require.NoError(s, err)
	}
	return err == nil
}

func (s *stage) batchJob(name string) *batchv1.Job {
	s.Helper()
	job := &batchv1.Job{}
	require.NoError(s, s.Get(s.ctx, s.key(name), job))
	return job
}

func (s *stage) jobNames() []string {
	s.Helper()
	var jobs batchv1.JobList
	require.NoError(s, s.List(s.ctx, &jobs, client.InNamespace(s.namespace)))
	var names []string
	for _, j := range jobs.Items {
		names = append(names, j.Name)
	}
	return names
}

// controlledByJob is what the Job controller writes into its pods.
func controlledByJob(job *batchv1.Job) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
}

// pod is the end of a pod of a Job.
type pod struct {
	index    int
	exitCode int32
	reason   string
	message  string
}

// ends acts as kubelet and Job controller: the pods of a Job end, and with them the Job,
// successfully if the last pod of each index was successful.
//
// The pod of a Job that merges and then reports continues when its merge has succeeded. The end of
// its report is then addressed by the name that a separate Job for the report would have.
func (s *stage) ends(name string, pods ...pod) {
	s.Helper()
	if merge := s.jobThatReports(name); merge != nil {
		require.Len(s, pods, 1)
		s.containerEnds(s.podOf(merge, 0), pods[0])
		s.endJob(merge, pods[0].exitCode == 0)
		return
	}
	job := s.batchJob(name)
	good := map[int]bool{}
	for i, p := range pods {
		good[p.index] = p.exitCode == 0
		made := s.podOf(job, i)
		made.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(p.index)}
		require.NoError(s, s.Create(s.ctx, made))
		s.containerEnds(made, p)
	}
	if task.MergesFirst(job) && len(pods) > 0 && pods[len(pods)-1].exitCode == 0 {
		return
	}
	succeeded := true
	for _, g := range good {
		succeeded = succeeded && g
	}
	s.endJob(job, succeeded)
}

// podOf is the i-th pod of a Job, as it was made.
func (s *stage) podOf(job *batchv1.Job, i int) *corev1.Pod {
	s.Helper()
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%s-%d", job.Name, job.UID[:5], i), Namespace: s.namespace}}
	if !s.exists(made, made.Name) {
		made.Labels, made.Spec = job.Spec.Template.Labels, job.Spec.Template.Spec
		made.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	}
	return made
}

// containerEnds plays the kubelet: the container that runs in a pod ends. An init container that
// ends well is followed by the main one.
func (s *stage) containerEnds(made *corev1.Pod, p pod) {
	s.Helper()
	now := metav1.NewTime(s.clock.Now())
	state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: p.exitCode, Message: p.message, Reason: p.reason, FinishedAt: now,
	}}
	if len(made.Spec.InitContainers) > 0 && made.Status.InitContainerStatuses == nil {
		made.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: task.MergeContainer, State: state}}
		made.Status.Phase = corev1.PodRunning
		made.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: task.MainContainer, State: running(now.Time)}}
		if p.exitCode != 0 {
			made.Status.Phase = corev1.PodFailed
			made.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
		}
	} else {
		made.Status.Phase = corev1.PodSucceeded
		if p.exitCode != 0 {
			made.Status.Phase = corev1.PodFailed
		}
		made.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: task.MainContainer, State: state}}
	}
	require.NoError(s, s.Status().Update(s.ctx, made))
}

// jobThatReports is the Job that merged and now reports, if name is that of the report; else nil.
func (s *stage) jobThatReports(name string) *batchv1.Job {
	s.Helper()
	if name != "stencil-cairn-report" || s.exists(&batchv1.Job{}, name) {
		return nil
	}
	for _, merge := range []string{"stencil-cairn-merge-l0-r2", "stencil-cairn-merge-l0-r1", "stencil-cairn-merge-l0"} {
		if job := (&batchv1.Job{}); s.exists(job, merge) && task.MergesFirst(job) {
			return job
		}
	}
	return nil
}

// checkName is the name of the Job that checks the storage.
func (s *stage) checkName() string {
	s.Helper()
	var jobs batchv1.JobList
	require.NoError(s, s.List(s.ctx, &jobs, client.InNamespace(s.namespace), client.HasLabels{storage.CheckLabel}))
	require.Len(s, jobs.Items, 1, "one check of the storage")
	return jobs.Items[0].Name
}

// collectGarbage plays the garbage collector: Jobs that wait for the end of their pods are gone.
func (s *stage) collectGarbage() {
	s.Helper()
	var jobs batchv1.JobList
	require.NoError(s, s.List(s.ctx, &jobs, client.InNamespace(s.namespace)))
	for _, job := range jobs.Items {
		if job.DeletionTimestamp != nil {
			job.Finalizers = nil
			require.NoError(s, s.Update(s.ctx, &job))
		}
	}
	s.settle()
}

// endJob writes the conditions that the Job controller writes.
func (s *stage) endJob(job *batchv1.Job, succeeded bool) {
	s.Helper()
	now := metav1.NewTime(s.clock.Now())
	condition := func(kind batchv1.JobConditionType, reason, message string) batchv1.JobCondition {
		return batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: now, LastProbeTime: now}
	}
	job.Status.StartTime = &now
	if succeeded {
		job.Status.CompletionTime = &now
		job.Status.Succeeded = ptr.Deref(job.Spec.Completions, 1)
		if ptr.Deref(job.Spec.CompletionMode, "") == batchv1.IndexedCompletion {
			job.Status.CompletedIndexes = "0"
			if n := *job.Spec.Completions; n > 1 {
				job.Status.CompletedIndexes = fmt.Sprintf("0-%d", n-1)
			}
		}
		job.Status.Conditions = []batchv1.JobCondition{
			condition(batchv1.JobSuccessCriteriaMet, "CompletionsReached", "Reached expected number of succeeded pods"),
			condition(batchv1.JobComplete, "CompletionsReached", "Reached expected number of succeeded pods"),
		}
	} else {
		job.Status.Failed = 1
		job.Status.Conditions = []batchv1.JobCondition{
			condition(batchv1.JobFailureTarget, "BackoffLimitExceeded", "Job has reached the specified backoff limit"),
			condition(batchv1.JobFailed, "BackoffLimitExceeded", "Job has reached the specified backoff limit"),
		}
	}
	require.NoError(s, s.Status().Update(s.ctx, job))
}

const storageWorks = `{"ok":true}`

// passStorage lets the first check succeed.
func (s *stage) passStorage() {
	s.Helper()
	s.settle()
	s.ends(s.checkName(), pod{message: storageWorks})
	s.settle()
}

func (s *stage) mpiJob() *mpiv2beta1.MPIJob {
	s.Helper()
	mpiJob := &mpiv2beta1.MPIJob{}
	require.NoError(s, s.Get(s.ctx, s.key("stencil"), mpiJob))
	return mpiJob
}

// launch plays mpi-operator: it makes the launcher's Job.
func (s *stage) launch() *batchv1.Job {
	s.Helper()
	mpiJob := s.mpiJob()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: "stencil-launcher", Namespace: s.namespace, Labels: map[string]string{"app": "stencil"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(mpiJob, mpiv2beta1.SchemeGroupVersionKind)},
		},
		Spec: batchv1.JobSpec{Template: mpiJob.Spec.MPIReplicaSpecs["Launcher"].Template},
	}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	if job.Spec.Template.Labels == nil {
		job.Spec.Template.Labels = map[string]string{}
	}
	job.Spec.Template.Labels[mpiv2beta1.JobRoleLabel] = "launcher"
	job.Spec.Template.Labels[mpiv2beta1.JobNameLabel] = mpiJob.Name
	require.NoError(s, s.Create(s.ctx, job))
	return s.batchJob(job.Name)
}

// worker plays mpi-operator and kubelet: a worker whose probe has ended.
func (s *stage) worker(index int, probe string) {
	s.Helper()
	mpiJob := s.mpiJob()
	template := mpiJob.Spec.MPIReplicaSpecs["Worker"].Template
	labels := map[string]string{mpiv2beta1.JobRoleLabel: "worker", mpiv2beta1.JobNameLabel: mpiJob.Name}
	for k, v := range template.Labels {
		labels[k] = v
	}
	made := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stencil-worker-%d", index), Namespace: s.namespace, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(mpiJob, mpiv2beta1.SchemeGroupVersionKind)}},
		Spec: template.Spec,
	}
	require.NoError(s, s.Create(s.ctx, made))
	made.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name:  inject.ProbeContainer,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: probe}},
	}}
	require.NoError(s, s.Status().Update(s.ctx, made))
}

const (
	traceable   = `{"traceable":true,"abi":["openmpi"],"mpi":"Open MPI 4.1.4","libc":"glibc 2.36","architecture":"amd64"}`
	untraceable = `{"traceable":false,"reason":"UnsupportedLibc","message":"musl is not supported"}`
)

// launcherPod plays the kubelet: a launcher pod with the given container status.
func (s *stage) launcherPod(name string, status corev1.ContainerStatus) {
	s.Helper()
	job := s.batchJob("stencil-launcher")
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}
	if !s.exists(made, name) {
		made.Labels = job.Spec.Template.Labels
		made.OwnerReferences = controlledByJob(job)
		made.Spec = job.Spec.Template.Spec
		require.NoError(s, s.Create(s.ctx, made))
	}
	status.Name = "launcher"
	made.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	require.NoError(s, s.Status().Update(s.ctx, made))
}

func running(at time.Time) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)}}
}

func exited(at time.Time, code int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(at), FinishedAt: metav1.NewTime(at.Add(time.Second)), ExitCode: code}}
}

// finishLauncher lets the launcher end with an exit code.
func (s *stage) finishLauncher(code int32) {
	s.Helper()
	job := s.launch()
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: exited(s.clock.Now(), code)})
	s.endJob(job, code == 0)
}

const (
	oneRun  = `{"runs":[{"id":"0/0","attempt":0,"run":0,"ranks":4,"missing_ranks":"","calls":1234,"trace_bytes":2345,"parallel_efficiency_percent":87,"trace_uri":"s3://traces/t"}],"run_count":1}`
	verdict = `{"runs":[{"id":"0/0","report_uri":"s3://traces/r","parallel_efficiency_percent":88,"clusters":9,"topology":"2 x 2 grid"}],"verdict":"Rank 3 is slow","run_count":1}`
)

// runToMerge takes a job up to the merge: storage works, workers are traceable, the
// launcher has ended with a code.
func (s *stage) runToMerge(code int32) {
	s.Helper()
	s.passStorage()
	s.worker(0, traceable)
	s.worker(1, traceable)
	s.finishLauncher(code)
	s.settle()
}

// finish takes a job from the merge to the report.
func (s *stage) finish() {
	s.Helper()
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	for _, name := range []string{"critical-path", "clustering"} {
		s.ends("stencil-cairn-"+name, pod{message: `{"ok":true}`})
	}
	s.settle()
	s.ends("stencil-cairn-report", pod{message: verdict})
	s.settle()
}
