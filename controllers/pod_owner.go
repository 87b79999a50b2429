package controllers

import (
	"context"
	"slices"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
)

// Anyone who may create pods may give them Cairn's labels. A pod is trusted only if its controller
// is an object that this operator, or mpi-operator on its behalf, created.

// podsOf returns the pods of a step from the cache. The step "" is the MPIJob; its pods are read
// once in a pass.
func (p *pass) podsOf(ctx context.Context, step string) ([]corev1.Pod, error) {
	if step == "" {
		if p.mpiPods == nil {
			pods, err := p.podsOfMPIJob(ctx, p)
			if err != nil {
				return nil, err
			}
			p.mpiPods = &pods
		}
		return slices.Clone(*p.mpiPods), nil
	}
	jobs, err := p.jobsOf(ctx, step)
	if err != nil {
		return nil, err
	}
	var list corev1.PodList
	labels := naming.Labels(p.job)
	labels[naming.StepLabel] = step
	if err := p.List(ctx, &list, client.InNamespace(p.job.Namespace), client.MatchingLabels(labels)); err != nil {
		return nil, err
	}
	var owners []types.UID
	for _, job := range jobs {
		owners = append(owners, job.UID)
	}
	return podstatus.ControlledBy(list.Items, owners...), nil
}

// podsOfMPIJob returns the workers and the launcher's pods, read with reader. Pods without the
// tracer do not have Cairn's label, so they are not in the cache.
func (p *pass) podsOfMPIJob(ctx context.Context, reader client.Reader) ([]corev1.Pod, error) {
	if p.job.Status.MPIJobRef == nil {
		return nil, nil
	}
	owners := []types.UID{p.job.Status.MPIJobRef.UID}
	launcher, err := p.launcherJob(ctx)
	if err != nil {
		return nil, err
	}
	if launcher != nil {
		owners = append(owners, launcher.UID)
	}
	labels := naming.Labels(p.job)
	if !p.injectedPods() {
		reader, labels = p.Live, map[string]string{mpiv2beta1.JobNameLabel: p.job.Status.MPIJobRef.Name}
	}
	var list corev1.PodList
	if err := reader.List(ctx, &list, client.InNamespace(p.job.Namespace), client.MatchingLabels(labels)); err != nil {
		return nil, err
	}
	return podstatus.ControlledBy(list.Items, owners...), nil
}

// injectedPods reports whether the job's pods have the tracer, and therefore Cairn's label.
func (p *pass) injectedPods() bool {
	return p.tracingEnabled() && !p.runsPlain()
}

// launcherJob returns the Job that mpi-operator created for the launcher, or nil if there is none
// (any more).
func (p *pass) launcherJob(ctx context.Context) (*batchv1.Job, error) {
	launcher := &batchv1.Job{}
	err := p.Get(ctx, client.ObjectKey{Namespace: p.job.Namespace, Name: p.job.Status.MPIJobRef.Name + "-launcher"}, launcher)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	owner := metav1.GetControllerOf(launcher)
	if owner == nil || owner.UID != p.job.Status.MPIJobRef.UID {
		return nil, nil
	}
	return launcher, nil
}

// writers returns the pods with Cairn's labels that may still write to the job's storage. The
// controller of a pod may be deleted before the pod, which is then being deleted, too. Other pods
// with these labels are ignored.
func (p *pass) writers(ctx context.Context) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := p.List(ctx, &list, client.InNamespace(p.job.Namespace), client.MatchingLabels(naming.Labels(p.job))); err != nil {
		return nil, err
	}
	var writers []corev1.Pod
	for _, pod := range list.Items {
		if pod.Labels[naming.StepLabel] == naming.StepDelete || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		ours, err := p.isOurs(ctx, &pod)
		if err != nil {
			return nil, err
		}
		if ours {
			writers = append(writers, pod)
		}
	}
	return writers, nil
}

// isOurs reports whether the controller of a pod was, or may have been, created by this operator or
// on its behalf.
func (p *pass) isOurs(ctx context.Context, pod *corev1.Pod) (bool, error) {
	owner := metav1.GetControllerOf(pod)
	switch {
	case owner == nil:
		return false, nil
	case owner.Kind == mpiv2beta1.Kind:
		return p.job.Status.MPIJobRef != nil && owner.UID == p.job.Status.MPIJobRef.UID, nil
	case owner.Kind != "Job":
		return false, nil
	}
	job := &batchv1.Job{}
	err := p.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: owner.Name}, job)
	if apierrors.IsNotFound(err) || err == nil && job.UID != owner.UID {
		return true, nil
	}
	if err != nil || metav1.IsControlledBy(job, p.job) {
		return err == nil, err
	}
	of := metav1.GetControllerOf(job)
	return of != nil && p.job.Status.MPIJobRef != nil && of.UID == p.job.Status.MPIJobRef.UID, nil
}
