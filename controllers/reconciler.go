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

// Reconciler brings TracedMPIJobs to their reports.
type Reconciler struct {
	client.Client
	// Live reads from the API server, past the cache: the pods of a Job that has
	// just ended, and objects whose absence must be certain.
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	Settings

	refusals refusal.Record
}

// Settings are what an installation decides for all jobs.
type Settings struct {
	task.Installation
	// Storage of jobs that name none; nil if there is no default.
	Storage *v1alpha1.S3Storage
	// Retry is how long to wait before something that a person must mend is tried
	// again: the storage, or a name that is taken. The pause doubles with each failure
	// of the storage.
	Retry time.Duration
	// StorageWait is how long a job whose failurePolicy is Ignore waits for storage that
	// is not ready.
	StorageWait time.Duration
	// JobTTL is how long Jobs are kept once the status holds all that they found.
	JobTTL time.Duration
	// Concurrency is how many jobs are worked on at the same time; 0 is 4.
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

// steps, in the order of a job's life.
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

// staleRetry is how long to wait for a cache that was behind.
const staleRetry = 200 * time.Millisecond

// Reconcile takes one job as far as it gets now.
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
			// The cache was behind; what it lacks is on its way.
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
