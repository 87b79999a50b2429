package controllers

import (
	"cmp"
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/refusal"
	"github.com/cairn-mpi/cairn/controllers/storage"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// DefaultConcurrency is the default of Settings.Concurrency.
const DefaultConcurrency = 4

// After an error that is not a refusal, such as an unreachable API server, the pause doubles
// between these limits.
const (
	firstErrorPause = 50 * time.Millisecond
	maxErrorPause   = time.Minute
)

// Scheme returns a scheme with all objects that the operator reads and writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, mpiv2beta1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // a programming error: the types are constant
		}
	}
	return scheme
}

// Add makes the manager reconcile TracedMPIJobs.
func Add(manager ctrl.Manager, settings Settings) error {
	if settings.Retry == 0 {
		settings.Retry = refusal.DefaultRetry
	}
	if settings.StorageWait == 0 {
		settings.StorageWait = refusal.DefaultStorageWait
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
		Watches(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(ofCheck(manager.GetClient()))).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(ofCheck(manager.GetClient()))).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(ofLabel)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cmp.Or(settings.Concurrency, DefaultConcurrency),
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstErrorPause, maxErrorPause),
		}).
		Complete(r)
}

// ofMPIJob maps a launcher's Job, which an MPIJob owns, to the TracedMPIJob with the MPIJob's name.
func ofMPIJob(_ context.Context, job client.Object) []reconcile.Request {
	owner := metav1.GetControllerOf(job)
	if owner == nil || owner.Kind != mpiv2beta1.Kind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: job.GetNamespace(), Name: owner.Name}}}
}

// ofCheck maps a check of storage, and its pod, to the TracedMPIJobs of the namespace that wait for
// it. If the storage works, they need only the end of the check.
func ofCheck(reader client.Reader) handler.MapFunc {
	return func(ctx context.Context, check client.Object) []reconcile.Request {
		if check.GetLabels()[storage.CheckLabel] == "" {
			return nil
		}
		var list v1alpha1.TracedMPIJobList
		if err := reader.List(ctx, &list, client.InNamespace(check.GetNamespace())); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot list the jobs that wait for a check of the storage")
			return nil
		}
		checkJob, isJob := check.(*batchv1.Job)
		ended := isJob && task.TerminalCondition(checkJob) != nil
		var requests []reconcile.Request
		for _, job := range list.Items {
			waits := ended || !meta.IsStatusConditionTrue(job.Status.Conditions, v1alpha1.ConditionStorageReady)
			if job.Status.CompletionTime == nil && waits || !job.DeletionTimestamp.IsZero() {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&job)})
			}
		}
		return requests
	}
}

// ofLabel maps a pod to the TracedMPIJob that its label names.
func ofLabel(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[naming.JobLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}
