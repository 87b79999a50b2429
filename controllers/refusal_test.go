package controllers

import (
	"context"
	"testing"
	"time"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/refusal"
)

// quota plays the quota controller: the namespace may have so many of a resource.
func (s *stage) quota(resourceName corev1.ResourceName, hard string) {
	s.Helper()
	limits := corev1.ResourceList{resourceName: resource.MustParse(hard)}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few", Namespace: s.namespace}, Spec: corev1.ResourceQuotaSpec{Hard: limits}}
	require.NoError(s, s.Create(s.ctx, quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: limits, Used: corev1.ResourceList{resourceName: resource.MustParse("0")}}
	require.NoError(s, s.Status().Update(s.ctx, quota))
	s.untilRefused(s.limited(resourceName))
}

// limited is an object that counts for a quota.
func (s *stage) limited(by corev1.ResourceName) client.Object {
	job := s.someJob()
	if by == corev1.ResourcePods {
		return &corev1.Pod{ObjectMeta: job.ObjectMeta, Spec: job.Spec.Template.Spec}
	}
	return job
}

func (s *stage) noQuota() {
	s.Helper()
	require.NoError(s, s.DeleteAllOf(s.ctx, &corev1.ResourceQuota{}, client.InNamespace(s.namespace)))
	require.Eventually(s, func() bool {
		return s.tryCreate(s.limited("count/jobs.batch")) == nil &&
			s.tryCreate(s.limited(corev1.ResourcePods)) == nil
	}, patience, 20*time.Millisecond)
}

// policy makes the API server refuse objects of a resource in the namespace, with the given
// message.
func (s *stage) policy(group, resourceName, expression, words string) {
	s.Helper()
	name := s.namespace + "-" + resourceName
	rule := admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resourceName}}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: rule}}},
			},
			Validations: []admissionv1.Validation{{Expression: expression, Message: words}},
		},
	}
	require.NoError(s, s.Create(s.ctx, policy))
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}
	require.NoError(s, s.Create(s.ctx, binding))
	s.Cleanup(func() {
		_ = s.Delete(context.Background(), binding)
		_ = s.Delete(context.Background(), policy)
	})
}

// untilRefused waits until the API server applies a policy or quota: an object of somebody else is
// refused, too.
func (s *stage) untilRefused(probe client.Object) {
	s.Helper()
	require.Eventually(s, func() bool { return refusal.Is(s.tryCreate(probe)) },
		patience, 20*time.Millisecond)
}

// tryCreate returns whether the API server would accept an object.
func (s *stage) tryCreate(object client.Object) error {
	return s.Create(s.ctx, object.DeepCopyObject().(client.Object), client.DryRunAll)
}

// check is the name of the Job that checks the storage.
func (s *stage) check() string {
	s.Helper()
	var jobs batchv1.JobList
	require.NoError(s, s.List(s.ctx, &jobs, client.InNamespace(s.namespace), client.MatchingLabels{naming.StepLabel: naming.StepStorage}))
	require.Len(s, jobs.Items, 1, "one check of the storage")
	return jobs.Items[0].Name
}

func (s *stage) someJob() *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "some", Namespace: s.namespace},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: "Never", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}
}

// TestRefusedJobs: refusals of Cairn's Jobs by a quota, a policy and an unreachable webhook are
// reported at once, in their words, and the job continues as soon as the Jobs are accepted.
func TestRefusedJobs(t *testing.T) {
	t.Parallel()
	t.Run("quota", func(t *testing.T) {
		s := newStage(t)
		s.quota("count/jobs.batch", "0")
		s.apply()
		s.settle()
		message := s.expect("Ready", isFalse, "Refused")
		require.Regexp(t, `^Job \S+ was refused: exceeded quota: few, requested: count/jobs.batch=1, used: count/jobs.batch=0, limited: count/jobs.batch=0$`, message)
		require.Equal(t, message, s.expect("StorageReady", unknown, "Refused"))
		require.Contains(t, s.expect("JobFinished", isFalse, "NotCreated"), "exceeded quota: few")
		require.InDelta(t, 10*time.Second, s.after, float64(2*time.Second))
		s.expectEvents("Warning Refused")
		s.noQuota()
		s.settle()
		s.expect("Ready", isFalse, "Checking")
	})
	t.Run("quota, after the job", func(t *testing.T) {
		s := newStage(t)
		s.apply()
		s.passStorage()
		s.worker(0, traceable)
		s.finishLauncher(0)
		s.quota("count/jobs.batch", "0")
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Refused"), "Job stencil-cairn-merge-l0 was refused: exceeded quota: few")
		s.expect("JobFinished", isTrue, "Succeeded")
		s.expect("TraceMerged", unknown, "Refused")
		s.noQuota()
		s.settle()
		s.expect("Ready", isFalse, "Collecting")
		s.expect("TraceMerged", unknown, "Collecting")
	})
	t.Run("quota, while the job is deleted", func(t *testing.T) {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Storage.DeletionPolicy = v1alpha1.DeletionPolicyDelete })
		s.passStorage()
		s.quota("count/jobs.batch", "0")
		require.NoError(t, s.Delete(s.ctx, s.job()))
		s.settle()
		message := s.expect("Ready", isFalse, "DeleteFailed")
		require.Contains(t, message, "Job stencil-cairn-delete-0 was refused: exceeded quota: few")
		require.Contains(t, message, `"deletionPolicy":"Retain"`)
		s.noQuota()
		s.settle()
		require.Contains(t, s.jobNames(), "stencil-cairn-delete-0")
	})
	t.Run("policy", func(t *testing.T) {
		s := newStage(t)
		s.policy("batch", "jobs", "has(object.metadata.labels) && 'cost-center' in object.metadata.labels", "every Job needs the label cost-center")
		s.untilRefused(s.someJob())
		s.apply()
		s.settle()
		message := s.expect("Ready", isFalse, "Refused")
		require.Regexp(t, `^Job \S+ was refused: `, message)
		require.Contains(t, message, "denied request: every Job needs the label cost-center")
	})
	t.Run("webhook that is away", func(t *testing.T) {
		s := newStage(t)
		webhook := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: "jobs.example.org", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionv1.SideEffectClassNone),
				FailurePolicy: ptr.To(admissionv1.Fail), ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/")},
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
				Rules: []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule: admissionv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}}}},
			}}}
		require.NoError(t, s.Create(s.ctx, webhook))
		t.Cleanup(func() { _ = s.Delete(context.Background(), webhook) })
		s.untilRefused(s.someJob())
		s.apply()
		s.settle()
		require.Contains(t, s.expect("Ready", isFalse, "Refused"), `failed calling webhook "jobs.example.org"`)
		require.NotZero(t, s.after)
	})
}

func TestRefusedMPIJob(t *testing.T) {
	s := newStage(t)
	s.policy("kubeflow.org", "mpijobs", "object.spec.slotsPerWorker > 8", "this queue takes jobs of more than 8 slots only")
	s.untilRefused(&mpiv2beta1.MPIJob{ObjectMeta: metav1.ObjectMeta{Name: "some", Namespace: s.namespace},
		Spec: mpiv2beta1.MPIJobSpec{SlotsPerWorker: ptr.To[int32](1), MPIReplicaSpecs: map[mpiv2beta1.MPIReplicaType]*mpiv2beta1.ReplicaSpec{}}})
	s.apply()
	s.passStorage()
	message := s.expect("Ready", isFalse, "Refused")
	require.Contains(t, message, "MPIJob stencil was refused: ")
	require.Contains(t, message, "this queue takes jobs of more than 8 slots only")
	require.Contains(t, s.expect("JobFinished", isFalse, "NotCreated"), "this queue takes jobs")
	s.expect("StorageReady", isTrue, "Writable")

	// A policy may change its mind: the job waits for as long as it takes.
	s.clock.SetTime(s.clock.Now().Add(24 * time.Hour))
	s.settle()
	s.expect("JobFinished", isFalse, "NotCreated")
}

// refuser answers every creation of an MPIJob with an error, and counts them.
type refuser struct {
	client.Client
	err   error
	tries int
}

func (c *refuser) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	if _, is := object.(*mpiv2beta1.MPIJob); is && c.err != nil {
		c.tries++
		return c.err
	}
	return c.Client.Create(ctx, object, options...)
}

// bySchemaOfMPIJob is the API server's error for an MPIJob that its CRD does not allow.
func (s *stage) bySchemaOfMPIJob() error {
	s.Helper()
	replicas := map[mpiv2beta1.MPIReplicaType]*mpiv2beta1.ReplicaSpec{}
	err := s.Create(s.ctx, &mpiv2beta1.MPIJob{ObjectMeta: metav1.ObjectMeta{Name: "stencil", Namespace: s.namespace},
		Spec: mpiv2beta1.MPIJobSpec{MPIImplementation: "LAM", MPIReplicaSpecs: replicas}}, client.DryRunAll)
	require.Error(s, err)
	return err
}

// TestRefusalsAreTriedLessAndLessOften, and an MPIJob that its own schema refuses is over after a
// while: it cannot change.
func TestRefusalsAreTriedLessAndLessOften(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.settle()
	refusing := &refuser{Client: s.Client, err: s.bySchemaOfMPIJob()}
	s.ends(s.check(), pod{message: storageWorks})
	r := &Reconciler{Client: refusing, Live: s.Client, Events: s.events, Clock: s.clock, Settings: s.settings}
	for tries := 0; refusing.tries == 0 && tries < 5; tries++ {
		_, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("stencil")})
		require.NoError(t, err)
	}
	var pauses []time.Duration
	started := s.clock.Now()
	// what it is injected with is written first
	_, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("stencil")})
	require.NoError(t, err)
	for range 40 {
		result, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("stencil")})
		require.NoError(t, err)
		tries := refusing.tries
		again, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("stencil")})
		require.NoError(t, err)
		require.Equal(t, tries, refusing.tries, "an event in between is no reason to try again")
		if s.condition("JobFinished").Status == isTrue {
			break
		}
		require.Equal(t, result.RequeueAfter, again.RequeueAfter)
		pauses = append(pauses, result.RequeueAfter)
		s.clock.SetTime(s.clock.Now().Add(result.RequeueAfter))
	}
	require.Equal(t, []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute}, pauses)
	require.InDelta(t, refusal.MaxRefusal, s.clock.Now().Sub(started), float64(time.Minute))
	require.Contains(t, s.expect("JobFinished", isTrue, "NeverStarted"), `Unsupported value: "LAM"`)
	require.Contains(t, s.expect("Ready", isFalse, "Refused"), "MPIJob stencil was refused: ")
	require.NotNil(t, s.job().Status.CompletionTime)
}

// A refused change of the MPIJob is reported, and the job is followed nevertheless.
func TestRefusedChange(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	s.worker(0, traceable)
	mpiJob := s.mpiJob()
	mpiJob.Spec.RunPolicy.Suspend = ptr.To(false)
	refused := s.bySchemaOfMPIJob()
	job := s.job()
	job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs["Worker"].Replicas = ptr.To[int32](5)
	require.NoError(t, s.Update(s.ctx, job))
	c := &patchRefuser{Client: s.Client, err: refused}
	s.settleAs(c)
	require.Contains(t, s.expect("JobFinished", isFalse, "Starting"), "a change of MPIJob stencil was refused: ")
	require.NotZero(t, s.after)
	s.finishLauncher(0)
	s.settleAs(c)
	s.expect("JobFinished", isTrue, "Succeeded")
	s.expect("Ready", isFalse, "Collecting")
}

type patchRefuser struct {
	client.Client
	err error
}

func (c *patchRefuser) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if _, is := object.(*mpiv2beta1.MPIJob); is {
		return c.err
	}
	return c.Client.Patch(ctx, object, patch, options...)
}

func TestJobThatNeverStartsIsDeletedWhenItsTimeIsUp(t *testing.T) {
	s := newStage(t)
	s.apply(noRoom, failurePolicyFail, func(j *v1alpha1.TracedMPIJob) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) })
	s.passStorage()
	s.expect("JobFinished", isTrue, "NeverStarted")
	require.NotContains(t, s.jobNames(), "stencil-cairn-merge-l0")
	s.clock.SetTime(s.clock.Now().Add(61 * time.Second))
	s.settle()
	require.False(t, s.exists(&v1alpha1.TracedMPIJob{}, "stencil"))
}
