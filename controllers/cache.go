package controllers

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/controllers/naming"
)

// CacheOptions keep the cache small: of pods and MPIJobs it contains only those with Cairn's label,
// and of every object only the fields that are read. The launchers' Jobs have no label that
// distinguishes them, so all Jobs are watched, and little is kept of those that are not Cairn's.
func CacheOptions() cache.Options {
	ours, err := labels.NewRequirement(naming.JobLabel, selection.Exists, nil)
	if err != nil {
		panic(err) // a programming error: the selector is constant
	}
	labeled := labels.NewSelector().Add(*ours)
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:        {Label: labeled, Transform: keepPod},
			&mpiv2beta1.MPIJob{}: {Label: labeled, Transform: keepMPIJob},
			&batchv1.Job{}:       {Transform: keepJob},
		},
	}
}

// keepPod reduces a pod to its metadata, its status, and the resources of its containers.
func keepPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ManagedFields = nil
	index, indexed := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	pod.Annotations = nil
	if indexed {
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	}
	spec := corev1.PodSpec{NodeName: pod.Spec.NodeName}
	for _, c := range pod.Spec.InitContainers {
		spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: c.Name, Resources: c.Resources})
	}
	for _, c := range pod.Spec.Containers {
		spec.Containers = append(spec.Containers, corev1.Container{Name: c.Name, Resources: c.Resources})
	}
	pod.Spec = spec
	return pod, nil
}

// keepMPIJob keeps everything except the pods' templates. MPIJobs are changed with patches, which
// do not affect fields that are missing here.
func keepMPIJob(object any) (any, error) {
	mpiJob, ok := object.(*mpiv2beta1.MPIJob)
	if !ok {
		return object, nil
	}
	mpiJob.ManagedFields = nil
	for _, replica := range mpiJob.Spec.MPIReplicaSpecs {
		if replica != nil {
			replica.Template = corev1.PodTemplateSpec{}
		}
	}
	return mpiJob, nil
}

// keepJob keeps Cairn's own Jobs, the state of launchers' Jobs, and only the metadata of all
// others.
func keepJob(object any) (any, error) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil
	}
	job.ManagedFields = nil
	if _, ours := job.Labels[naming.JobLabel]; ours {
		return job, nil
	}
	kept := &batchv1.Job{TypeMeta: job.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: job.Name, Namespace: job.Namespace, UID: job.UID, ResourceVersion: job.ResourceVersion,
		CreationTimestamp: job.CreationTimestamp, DeletionTimestamp: job.DeletionTimestamp, OwnerReferences: job.OwnerReferences,
	}}
	if owner := metav1.GetControllerOf(job); owner != nil && owner.Kind == mpiv2beta1.Kind {
		kept.Status = job.Status
	}
	return kept, nil
}
