package controllers

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// Scheme knows all objects that the operator reads and writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, mpiv2beta1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // a programming error: the same types always
		}
	}
	return scheme
}

// CacheOptions keep the cache small: of all pods of a cluster, only those that carry
// our label.
func CacheOptions() cache.Options {
	ours, err := labels.NewRequirement(JobLabel, selection.Exists, nil)
	if err != nil {
		panic(err) // a programming error: a constant
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Label: labels.NewSelector().Add(*ours)},
		},
	}
}

// Add makes the manager reconcile TracedMPIJobs.
func Add(manager ctrl.Manager, settings Settings) error {
	if settings.Retry == 0 {
		settings.Retry = defaultRetry
	}
	r := &Reconciler{
		Client:   manager.GetClient(),
		Live:     manager.GetAPIReader(),
		Events:   manager.GetEventRecorder("cairn-operator"),
		Clock:    clock.RealClock{},
		Settings: settings,
	}
	return ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.TracedMPIJob{}).
		Owns(&batchv1.Job{}).
		Owns(&mpiv2beta1.MPIJob{}).
		Watches(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(ofMPIJob)).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(ofLabel)).
		Complete(r)
}

// ofMPIJob maps a launcher's Job, which an MPIJob owns, to the TracedMPIJob: it has
// the MPIJob's name.
func ofMPIJob(_ context.Context, job client.Object) []reconcile.Request {
	owner := metav1.GetControllerOf(job)
	if owner == nil || owner.Kind != mpiv2beta1.Kind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: job.GetNamespace(), Name: owner.Name}}}
}

// ofLabel maps a pod to the TracedMPIJob of its label.
func ofLabel(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[JobLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}
