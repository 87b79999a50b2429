package controllers

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// forge creates a pod with the labels of one of the job's pods, and any status: everyone who may
// create pods can do that.
func (s *stage) forge(name string, labels map[string]string, status corev1.PodStatus, owner ...metav1.OwnerReference) {
	s.Helper()
	all := naming.Labels(s.job())
	maps.Copy(all, labels)
	forged := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace, Labels: all, OwnerReferences: owner,
			Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: "0"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: task.MainContainer, Image: "forger"}}},
	}
	require.NoError(s, s.Create(s.ctx, forged))
	forged.Status = status
	require.NoError(s, s.Status().Update(s.ctx, forged))
}

func ended(container, message string, code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, StartedAt: metav1.Now(), FinishedAt: metav1.Now()}}}
}

// strangers are owners that a forger can name: none, and a Job of somebody else.
func (s *stage) strangers() map[string][]metav1.OwnerReference {
	s.Helper()
	other := s.someJob()
	require.NoError(s, s.Create(s.ctx, other))
	return map[string][]metav1.OwnerReference{"alone": nil, "another-job": controlledByJob(other)}
}

func TestForgedProbe(t *testing.T) {
	s := newStage(t)
	s.apply(failurePolicyFail)
	s.passStorage()
	for name, owner := range s.strangers() {
		s.forge("worker-"+name, map[string]string{mpiv2beta1.JobRoleLabel: "worker"}, corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{ended(inject.ProbeContainer, untraceable, 0)}}, owner...)
	}
	s.settle()
	s.expect("Traced", unknown, "Pending")
	s.expect("JobFinished", isFalse, "Starting")
	require.True(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"), "the job was not stopped")
	s.worker(0, traceable)
	s.settle()
	s.expect("Traced", isTrue, "Traceable")
}

func TestForgedAttempts(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.passStorage()
	launcher := s.launch()
	for name, owner := range s.strangers() {
		s.forge("launcher-"+name, map[string]string{mpiv2beta1.JobRoleLabel: "launcher", batchv1.ControllerUidLabel: string(launcher.UID)}, corev1.PodStatus{
			Reason: "Evicted", Message: "forged", ContainerStatuses: []corev1.ContainerStatus{ended("launcher", "", 42)}}, owner...)
	}
	s.settle()
	s.expect("JobFinished", isFalse, "Starting")
	require.Empty(t, s.job().Status.Attempts)
	s.launcherPod("stencil-launcher-x", corev1.ContainerStatus{State: exited(s.clock.Now(), 0)})
	s.endJob(launcher, true)
	s.settle()
	require.Equal(t, "launcher exited with code 0", s.expect("JobFinished", isTrue, "Succeeded"))
	require.Len(t, s.job().Status.Attempts, 1)
}

func TestForgedResults(t *testing.T) {
	forge := func(s *stage, name, message string) {
		job := s.batchJob(name)
		for by, owner := range map[string][]metav1.OwnerReference{"alone": nil, "namesake": {{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: "another", Controller: new(true)}}} {
			labels := maps.Clone(job.Spec.Template.Labels)
			s.forge(name+"-forged-"+by, labels, corev1.PodStatus{Phase: corev1.PodSucceeded,
				ContainerStatuses: []corev1.ContainerStatus{ended(task.MainContainer, message, 0)}}, owner...)
		}
	}
	s := newStage(t)
	s.apply()
	s.settle()
	forge(s, s.check(), storageWorks)
	s.ends(s.check(), pod{exitCode: 77, message: `{"ok":false,"reason":"AccessDenied","message":"403"}`})
	s.settle()
	s.expect("StorageReady", isFalse, "AccessDenied")
	s.later(11 * time.Second)
	s.settle()
	require.False(t, s.exists(&mpiv2beta1.MPIJob{}, "stencil"))
	s.ends(s.check(), pod{message: storageWorks})
	s.settle()
	s.worker(0, traceable)
	s.finishLauncher(0)
	s.settle()
	forge(s, "stencil-cairn-merge-l0", `{"runs":[{"id":"0/0","ranks":4000,"calls":1}],"run_count":1,"message":"forged"}`)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	require.EqualValues(t, 4, s.job().Status.Runs[0].Ranks)
	require.NotContains(t, s.expect("TraceMerged", isTrue, "Merged"), "forged")
	s.expect("Ready", isFalse, "Analyzing")
}

func TestForgedPodsDoNotBlockDeletion(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Storage.DeletionPolicy = v1alpha1.DeletionPolicyDelete })
	s.passStorage()
	s.worker(0, traceable)
	for name, owner := range s.strangers() {
		s.forge("running-"+name, map[string]string{mpiv2beta1.JobRoleLabel: "worker"}, corev1.PodStatus{Phase: corev1.PodRunning}, owner...)
	}
	require.NoError(t, s.Delete(s.ctx, s.job()))
	s.settle()
	require.Contains(t, s.expect("Ready", isFalse, "DeletingTrace"), "waiting for 1 pods")
	worker := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stencil-worker-0", Namespace: s.namespace}}
	require.NoError(t, s.Delete(s.ctx, worker, client.GracePeriodSeconds(0)))
	s.settle()
	require.Contains(t, s.jobNames(), "stencil-cairn-delete-0")
}
