package controllers

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
)

// writes counts the operator's changes of the MPIJob.
type writes struct {
	client.Client
	count int
}

func (c *writes) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if _, is := object.(*mpiv2beta1.MPIJob); is {
		c.count++
	}
	return c.Client.Patch(ctx, object, patch, options...)
}

const queueLabel = "kueue.x-k8s.io/queue-name"

// TestQueueRevertsSuspend: a queue corrects every change of the MPIJob's suspend at once.
// spec.suspend is written to the MPIJob once, and not again.
func TestQueueRevertsSuspend(t *testing.T) {
	t.Parallel()
	for name, queueWants := range map[string]bool{"a queue that resumes": false, "a queue that suspends": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.apply(func(j *v1alpha1.TracedMPIJob) {
				j.Labels = map[string]string{queueLabel: "team-a"}
				j.Spec.Suspend = queueWants
			})
			s.passStorage()
			c := &writes{Client: s.Client}
			r := &Reconciler{Client: c, Live: c, Events: s.events, Clock: s.clock, Settings: s.settings}
			fight := func(spec bool) {
				job := s.job()
				job.Spec.Suspend = spec
				require.NoError(t, s.Update(s.ctx, job))
				for range 10 {
					_, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("stencil")})
					require.NoError(t, err)
					if mpiJob := s.mpiJob(); ptr.Deref(mpiJob.Spec.RunPolicy.Suspend, false) != queueWants {
						mpiJob.Spec.RunPolicy.Suspend = ptr.To(queueWants)
						require.NoError(t, s.Update(s.ctx, mpiJob))
					}
				}
				s.settleAs(c)
				require.Equal(t, spec, *s.job().Status.Suspend)
				require.Equal(t, queueWants, ptr.Deref(s.mpiJob().Spec.RunPolicy.Suspend, false))
			}
			fight(!queueWants)
			require.Equal(t, 1, c.count, "one change of spec.suspend, one change of the MPIJob")
			message := s.condition("Ready").Message
			require.Equal(t, message, s.condition("JobFinished").Message)
			if queueWants {
				s.expect("Ready", isFalse, "Suspended")
				require.Equal(t, "the MPIJob is suspended, by a queue for example (kueue.x-k8s.io/queue-name is team-a): spec.suspend is false", message)
			} else {
				s.expect("Ready", isFalse, "Starting")
				require.Contains(t, message, "spec.suspend is true, but the MPIJob was resumed by someone else, a queue for example (kueue.x-k8s.io/queue-name is team-a)")
			}
			fight(queueWants)
			require.Equal(t, 2, c.count, "changed back, written once more")
			require.NotContains(t, s.condition("Ready").Message, "spec.suspend is")
		})
	}
}

// behind is a stale cache of the job.
type behind struct {
	client.Client
	job *v1alpha1.TracedMPIJob
}

func (c *behind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if job, is := object.(*v1alpha1.TracedMPIJob); is && c.job != nil {
		c.job.DeepCopyInto(job)
		return nil
	}
	return c.Client.Get(ctx, key, object, options...)
}

// TestSuspendIsNotWrittenTwiceFromAStaleCache: right after the write, the cache still shows the
// change as not propagated.
func TestSuspendIsNotWrittenTwiceFromAStaleCache(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	job := s.job()
	job.Spec.Suspend = true
	require.NoError(t, s.Update(s.ctx, job))
	old := s.job()
	c := &writes{Client: s.Client}
	s.settleAs(c)
	require.Equal(t, 1, c.count)
	mpiJob := s.mpiJob()
	mpiJob.Spec.RunPolicy.Suspend = ptr.To(false)
	require.NoError(t, s.Update(s.ctx, mpiJob))

	r := &Reconciler{Client: &behind{Client: c, job: old}, Live: s.Client, Events: s.events, Clock: s.clock, Settings: s.settings}
	result, err := r.Reconcile(s.ctx, ctrl.Request{NamespacedName: s.key("stencil")})
	require.NoError(t, err)
	require.Equal(t, staleRetry, result.RequeueAfter)
	require.Equal(t, 1, c.count)
}

// meanwhile is a client that lets others act while it creates the MPIJob.
type meanwhile struct {
	client.Client
	act func(*mpiv2beta1.MPIJob)
}

func (c *meanwhile) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	err := c.Client.Create(ctx, object, options...)
	if mpiJob, is := object.(*mpiv2beta1.MPIJob); is && err == nil {
		c.act(mpiJob.DeepCopy())
	}
	return err
}

// TestSuspendChangesWhileTheMPIJobIsCreated: the API server then refuses the status with that
// information, and the MPIJob is found again.
func TestSuspendChangesWhileTheMPIJobIsCreated(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, suspend bool, act func(*stage, *mpiv2beta1.MPIJob)) (*stage, *writes) {
		s := newStage(t)
		s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Suspend = suspend })
		s.settle()
		s.ends(s.checkName(), pod{message: storageWorks})
		c := &writes{Client: s.Client}
		s.settleAs(&meanwhile{Client: c, act: func(mpiJob *mpiv2beta1.MPIJob) { act(s, mpiJob) }})
		s.settleAs(c)
		require.NotNil(t, s.job().Status.MPIJobRef)
		return s, c
	}
	for _, suspend := range []bool{true, false} {
		t.Run(strconv.FormatBool(suspend), func(t *testing.T) {
			s, c := begin(t, suspend, func(s *stage, _ *mpiv2beta1.MPIJob) {
				job := s.job()
				job.Spec.Suspend = !suspend
				require.NoError(s, s.Update(s.ctx, job))
			})
			require.Equal(t, !suspend, ptr.Deref(s.mpiJob().Spec.RunPolicy.Suspend, false))
			require.Equal(t, !suspend, *s.job().Status.Suspend)
			require.Equal(t, 1, c.count)
		})
	}
	t.Run("by a queue", func(t *testing.T) {
		s, c := begin(t, false, func(s *stage, mpiJob *mpiv2beta1.MPIJob) {
			mpiJob.Spec.RunPolicy.Suspend = ptr.To(true)
			require.NoError(s, s.Update(s.ctx, mpiJob))
			job := s.job()
			job.Labels = map[string]string{"changed": "too"}
			require.NoError(s, s.Update(s.ctx, job))
		})
		require.True(t, *s.mpiJob().Spec.RunPolicy.Suspend)
		require.Zero(t, c.count, "the queue is left alone")
	})
}

// A job with an MPIJob of an older operator, which did not record the value that it wrote.
func TestSuspendOfAnOlderOperator(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Suspend = true })
	s.passStorage()
	job := s.job()
	job.Status.Suspend = nil
	require.NoError(t, s.Status().Update(s.ctx, job))
	mpiJob := s.mpiJob()
	mpiJob.Annotations = map[string]string{"cairn.dev/suspended": "true"}
	require.NoError(t, s.Update(s.ctx, mpiJob))
	s.settle()
	s.expect("Ready", isFalse, "Suspended")
	job = s.job()
	job.Spec.Suspend = false
	require.NoError(t, s.Update(s.ctx, job))
	s.settle()
	require.False(t, *s.mpiJob().Spec.RunPolicy.Suspend)
}

// Labels for queues may stay where they were before the job was traced.
func TestQueueLabelsArePassedOn(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) {
		j.Labels = map[string]string{
			queueLabel: "team-a", "kueue.x-k8s.io/priority-class": "high", "scheduling.x-k8s.io/pod-group": "g",
			"team": "a", "example.org/kueue.x-k8s.io": "no", naming.JobLabel: "mine",
		}
		j.Annotations = map[string]string{
			"provreq.kueue.x-k8s.io/maxRunDurationSeconds": "60", "scheduling.volcano.sh/queue-name": "v", "note": "n",
			"kubectl.kubernetes.io/last-applied-configuration": "{}",
		}
		j.Spec.MPIJobTemplate.Metadata.Labels["kueue.x-k8s.io/priority-class"] = "low"
		j.Spec.MPIJobTemplate.Metadata.Labels[naming.JobLabel] = "theirs"
		j.Spec.MPIJobTemplate.Metadata.Annotations = map[string]string{"of": "the template"}
	})
	s.passStorage()
	mpiJob := s.mpiJob()
	require.Equal(t, map[string]string{
		"queue": "fast", queueLabel: "team-a", "kueue.x-k8s.io/priority-class": "low", "scheduling.x-k8s.io/pod-group": "g",
		naming.JobLabel: "stencil", naming.JobUIDLabel: string(s.job().UID),
	}, mpiJob.Labels)
	for key := range mpiJob.Annotations {
		require.True(t, strings.HasSuffix(key, "maxRunDurationSeconds") || strings.HasPrefix(key, "scheduling.volcano.sh/") || key == "of" || key == createdSuspendedAnnotation, key)
	}
	require.Len(t, mpiJob.Annotations, 4)
	require.Equal(t, "false", mpiJob.Annotations[createdSuspendedAnnotation])
	require.False(t, ptr.Deref(mpiJob.Spec.RunPolicy.Suspend, false), "the queue's webhook suspends it")
}
