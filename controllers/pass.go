package controllers

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/quote"
	"github.com/cairn-mpi/cairn/controllers/refusal"
)

// pass is one reconciliation of one job.
type pass struct {
	*Reconciler
	// job is the object as it was read; steps write its status.
	job *v1alpha1.TracedMPIJob
	// persisted is what the API server holds.
	persisted *v1alpha1.TracedMPIJob
	// again is when the job must be looked at again, whatever the steps wait for; 0 is never.
	again time.Duration
	// mpiPods are the MPIJob's pods as this pass has seen them; nil before it has looked.
	mpiPods *[]corev1.Pod
	// notice is added to what is said while the job is on its way.
	notice string
}

// step does what is due at one point of a job's life.
type step func(context.Context) (next, error)

// next says what follows a step.
type next struct {
	goOn  bool
	after time.Duration
}

var (
	// proceed to the next step.
	proceed = next{goOn: true}
	// await an event.
	await = next{}
)

// awaitFor an event, but no longer than d.
func awaitFor(d time.Duration) next { return next{after: d} }

// begin sets the conditions that nothing is known about yet.
func (p *pass) begin() {
	p.job.Status.ObservedGeneration = p.job.Generation
	for _, kind := range v1alpha1.Conditions {
		if meta.FindStatusCondition(p.job.Status.Conditions, kind) == nil {
			p.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
		}
	}
}

// set writes a condition.
func (p *pass) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&p.job.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: quote.Shorten(message, maxMessage),
		ObservedGeneration: p.job.Generation,
	})
}

// maxMessage keeps conditions readable; the API allows 32768.
const maxMessage = 2048

// notReady says why there is no report yet.
func (p *pass) notReady(reason, message string) {
	p.set(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message)
}

// giveUp says why there will be no report.
func (p *pass) giveUp(reason, message string) {
	p.notReady(reason, message)
	p.complete()
}

// complete notes that nothing more will be done.
func (p *pass) complete() {
	if p.job.Status.CompletionTime == nil {
		now := metav1.NewTime(p.Clock.Now())
		p.job.Status.CompletionTime = &now
	}
}

func (p *pass) completed() bool { return p.job.Status.CompletionTime != nil }

func (p *pass) condition(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(p.job.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{Type: kind, Status: metav1.ConditionUnknown}
}

func (p *pass) isTrue(kind string) bool {
	return p.condition(kind).Status == metav1.ConditionTrue
}

// tracingEnabled reports whether the job was meant to be traced.
func (p *pass) tracingEnabled() bool {
	return p.job.Spec.Tracing.Mode != v1alpha1.TracingDisabled
}

// handleStepError maps an error of a step to a condition, or to another try. A name that is taken and a refusal are for
// a person to act on, or pass by themselves.
func (p *pass) handleStepError(err error) (time.Duration, error) {
	var conflict *nameConflictError
	if errors.As(err, &conflict) {
		p.notReady(v1alpha1.ReasonNameConflict, conflict.Error())
		return p.Retry, nil
	}
	var refused *refusal.Error
	if errors.As(err, &refused) {
		return p.reportRefusal(refused), nil
	}
	return 0, err
}

// lookAgain asks for another pass after d, though no watched object may change until then.
func (p *pass) lookAgain(d time.Duration) {
	p.again = sooner(p.again, d)
}

// result is that of a pass whose last step asked for another one after a time; 0 is when something changes.
func (p *pass) result(after time.Duration) ctrl.Result {
	return ctrl.Result{RequeueAfter: sooner(after, p.again)}
}

// writeStatus writes what the steps found out, in one patch, and in
// events only when that has worked. The patch carries the version that was read:
// a status made from a stale cache is refused.
func (p *pass) writeStatus(ctx context.Context) error {
	if equality.Semantic.DeepEqual(p.persisted.Status, p.job.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(p.persisted, client.MergeFromWithOptimisticLock{})
	found := p.job.Status.DeepCopy()
	if err := p.Status().Patch(ctx, p.job, patch); err != nil {
		return client.IgnoreNotFound(err)
	}
	p.recordEvents(p.persisted.Status.Conditions, found.Conditions)
	return nil
}
