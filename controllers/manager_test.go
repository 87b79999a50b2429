package controllers

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// counting counts what a live operator does on a stage.
type counting struct {
	client.Client
	on *stage
}

func (c counting) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	c.on.reads.Add(1)
	return c.Client.Get(ctx, key, object, options...)
}

func (c counting) Create(
	ctx context.Context, o client.Object, options ...client.CreateOption,
) error {
	err := c.Client.Create(ctx, o, options...)
	if _, is := o.(*batchv1.Job); is && err == nil {
		c.on.started.Add(1)
	}
	return err
}

// operator runs a real manager, with its caches and watches, until stop is called.
func (s *stage) operator() (stop func()) {
	s.Helper()
	options := CacheOptions()
	// other stages have operators of their own
	options.DefaultNamespaces = map[string]cache.Config{s.namespace: {}}
	manager, err := ctrl.NewManager(server.Config, ctrl.Options{
		Scheme: Scheme(), Cache: options,
		NewClient: func(config *rest.Config, options client.Options) (client.Client, error) {
			c, err := client.New(config, options)
			return counting{c, s}, err
		},
		Metrics: metricsserver.Options{BindAddress: "0"},
		// Several managers run in this process.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	require.NoError(s, err)
	require.NoError(s, Add(manager, s.settings))
	ctx, cancel := context.WithCancel(s.ctx)
	s.live = true
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	return func() {
		s.Helper()
		cancel()
		require.NoError(s, <-ended)
	}
}

// patience is how long something may take on a machine with other load.
const patience = 2 * time.Minute

// eventually waits for a condition's reason.
func (s *stage) eventually(kind, reason string) {
	s.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		conditions := s.job().Status.Conditions
		if c := meta.FindStatusCondition(conditions, kind); c != nil && c.Reason == reason {
			return
		}
		require.True(s, time.Now().Before(end), "%s=%s: %+v", kind, reason, conditions)
	}
}

// TestOperatorIsKilledAtEveryPoint: the job goes from creation to report by events alone, once with
// one operator, once with a new one after every step. What happens while no operator runs is found
// by the next one.
func TestOperatorIsKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"one operator": false, "a new operator each time": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			stop := s.operator()
			defer func() { stop() }()
			// what happens, and what the operator must have concluded from it
			for _, act := range []struct {
				happens      func()
				kind, reason string
			}{
				{func() { s.apply() }, "StorageReady", "Checking"},
				{func() { s.ends(s.checkName(), pod{message: storageWorks}) }, "JobFinished", "Starting"},
				{func() { s.worker(0, traceable) }, "Traced", "Traceable"},
				{func() {
					s.launch()
					s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: running(s.clock.Now())})
				}, "JobFinished", "Running"},
				{func() {
					s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: exited(s.clock.Now(), 3)})
					s.endJob(s.batchJob("stencil-launcher"), false)
				}, "Ready", "Collecting"},
				{func() { s.ends("stencil-cairn-merge-l0", pod{message: oneRun}) }, "Ready", "Analyzing"},
				{func() {
					s.ends("stencil-cairn-critical-path", pod{message: `{"ok":true}`})
					s.ends("stencil-cairn-clustering", pod{message: `{"ok":true}`})
				}, "Ready", "Reporting"},
				{func() { s.ends("stencil-cairn-report", pod{message: verdict}) }, "Ready", "JobFailedReportReady"},
			} {
				if killed {
					stop()
				}
				act.happens()
				if killed {
					stop = s.operator()
				}
				s.eventually(act.kind, act.reason)
			}
			require.Equal(t, "launcher exited with code 3", s.condition("JobFinished").Message)
			require.Equal(t, "Rank 3 is slow", s.job().Status.Verdict)
			require.Eventually(t, func() bool { return s.batchJob("stencil-cairn-merge-l0").Spec.TTLSecondsAfterFinished != nil },
				patience, 20*time.Millisecond)
			require.Len(t, s.jobNames(), 5, "nothing was done twice: %v", s.jobNames())

			if killed {
				return // an operator that ends loses the events that it has not sent
			}
			require.Eventually(t, func() bool {
				var list eventsv1.EventList
				require.NoError(t, s.List(s.ctx, &list, client.InNamespace(s.namespace)))
				for _, event := range list.Items {
					if event.Reason == v1alpha1.ReasonJobFailed && event.Regarding.Kind == v1alpha1.Kind {
						return true
					}
				}
				return false
			}, patience, 50*time.Millisecond, "an event tells of the failure")
		})
	}
}

// TestLeastPrivilege runs the operator with the permissions of its service account: a step that
// needs more than config/rbac grants would not complete.
func TestLeastPrivilege(t *testing.T) {
	s := newStage(t)
	person := s.Client
	privileged, err := client.New(s.operatorConfig(), client.Options{Scheme: Scheme()})
	require.NoError(t, err)
	c := stageClient{privileged, s}

	require.Error(t, c.List(s.ctx, &corev1.SecretList{}), "the operator may read no Secret")
	require.Error(t, c.Create(s.ctx, &corev1.Pod{}), "the operator creates no pod")

	s.apply(func(j *v1alpha1.TracedMPIJob) {
		j.Spec.Storage.DeletionPolicy = v1alpha1.DeletionPolicyDelete
		j.Spec.TTLSecondsAfterFinished = ptr.To[int32](5)
	})
	s.settleAs(c)
	s.ends(s.checkName(), pod{exitCode: 69, message: `{"reason":"Unreachable"}`})
	s.settleAs(c)
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	s.settleAs(c)
	s.ends(s.checkName(), pod{message: storageWorks})
	s.settleAs(c)
	s.warn(s.mpiJob(), "MPIJobFailed", "no room", s.clock.Now())
	s.later(eventDelay)
	s.settleAs(c)
	require.Contains(t, s.expect("Ready", isFalse, "Starting"), "mpi-operator reports: no room")
	job := s.job()
	job.Spec.Suspend = true
	require.NoError(t, person.Update(s.ctx, job))
	s.settleAs(c)
	s.worker(0, traceable)
	s.finishLauncher(0)
	s.settleAs(c)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settleAs(c)
	s.ends("stencil-cairn-critical-path", pod{})
	s.ends("stencil-cairn-clustering", pod{})
	s.settleAs(c)
	s.ends("stencil-cairn-report", pod{message: verdict})
	s.settleAs(c)
	s.expect("Ready", isTrue, "ReportReady")
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	s.settleAs(c)
	require.NotNil(t, s.job().DeletionTimestamp)
	require.NoError(t, person.DeleteAllOf(s.ctx, &corev1.Pod{}, client.InNamespace(s.namespace), client.GracePeriodSeconds(0)))
	s.settleAs(c)
	s.ends("stencil-cairn-delete-0", pod{})
	s.settleAs(c)
	require.False(t, s.exists(&v1alpha1.TracedMPIJob{}, "stencil"))
}
