package controllers

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/refusal"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// Reconciler takes TracedMPIJobs from creation to report.
type Reconciler struct {
	client.Client
	// Live reads from the API server, past the cache. It is used for the pods of a Job that has
	// just ended, and for objects that must certainly be absent.
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	Settings

	refusals refusal.Record
}

// Settings are the settings of an installation for all jobs.
type Settings struct {
	task.Installation
	// Storage is the storage of jobs that name none; nil if there is no default.
	Storage *v1alpha1.S3Storage
	// Retry is the pause before a retry of something that a person must repair: the storage, or a
	// name conflict. It doubles with each failure of the storage.
	Retry time.Duration
	// StorageWait is how long a job with failurePolicy Ignore waits for storage that is not ready.
	StorageWait time.Duration
	// JobTTL is how long Jobs are kept after the status has all their results.
	JobTTL time.Duration
	// Concurrency is the number of jobs that are reconciled concurrently; 0 is DefaultConcurrency.
	Concurrency int
}

// +kubebuilder:rbac:groups=cairn.dev,resources=tracedmpijobs,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=cairn.dev,resources=tracedmpijobs/status,verbs=patch
// +kubebuilder:rbac:groups=cairn.dev,resources=tracedmpijobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=kubeflow.org,resources=mpijobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=get;list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// steps returns the steps in the order of a job's life.
func (p *pass) steps() []step {
	return []step{
		p.retry,
		p.validateTemplate,
		p.checkStorage,
		p.runMPIJob,
		p.watchStorage,
		p.readProbes,
		p.followLauncher,
		p.mergeTraces,
		p.analyze,
		p.report,
		p.expire,
	}
}

// staleRetry is the pause after a pass with a stale cache.
const staleRetry = 200 * time.Millisecond

// Reconcile advances one job as far as possible without waiting.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	job := &v1alpha1.TracedMPIJob{}
	if err := r.Get(ctx, request.NamespacedName, job); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if done, err := r.settleFinalizer(ctx, job); done || err != nil {
		return ctrl.Result{}, err
	}
	p := &pass{Reconciler: r, job: job, persisted: job.DeepCopy()}
	defer func() {
		err = errors.Join(err, p.writeStatus(ctx))
		if apierrors.IsConflict(err) {
			// The cache was stale. The update is on its way.
			result, err = ctrl.Result{RequeueAfter: staleRetry}, nil
		}
	}()

	p.begin()
	steps := p.steps()
	if !job.DeletionTimestamp.IsZero() {
		steps = []step{p.deleteTrace}
	}
	for _, step := range steps {
		next, err := step(ctx)
		if err != nil {
			after, err := p.handleStepError(err)
			return p.result(after), err
		}
		if !next.goOn {
			return p.result(next.after), nil
		}
	}
	return p.result(0), nil
}
