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
	// persisted is the object as the API server has it.
	persisted *v1alpha1.TracedMPIJob
	// again is the time after which the job must be reconciled again, whatever the steps wait for;
	// 0 is never.
	again time.Duration
	// mpiPods are the MPIJob's pods, read once in a pass; nil until then.
	mpiPods *[]corev1.Pod
	// notice is appended to the messages of a job that has not finished.
	notice string
}

// A step performs what is due at one point of a job's life.
type step func(context.Context) (next, error)

// next is what follows a step.
type next struct {
	goOn  bool
	after time.Duration
}

var (
	// proceed with the next step.
	proceed = next{goOn: true}
	// await an event.
	await = next{}
)

// awaitFor waits for an event, but at most for d.
func awaitFor(d time.Duration) next { return next{after: d} }

// begin sets all conditions that do not exist yet to Unknown.
func (p *pass) begin() {
	p.job.Status.ObservedGeneration = p.job.Generation
	for _, kind := range v1alpha1.Conditions {
		if meta.FindStatusCondition(p.job.Status.Conditions, kind) == nil {
			p.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
		}
	}
}

// set sets a condition.
func (p *pass) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&p.job.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: quote.Shorten(message, maxMessage),
		ObservedGeneration: p.job.Generation, LastTransitionTime: metav1.NewTime(p.Clock.Now()),
	})
}

// maxMessage limits the length of messages, to keep conditions readable. The API allows 32768.
const maxMessage = 2048

// notReady records why there is no report yet.
func (p *pass) notReady(reason, message string) {
	p.set(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message)
}

// giveUp records why there will be no report.
func (p *pass) giveUp(reason, message string) {
	p.notReady(reason, message)
	p.complete()
}

// complete records that nothing more will be done.
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

// tracingEnabled reports whether the specification enables tracing.
func (p *pass) tracingEnabled() bool {
	return p.job.Spec.Tracing.Mode != v1alpha1.TracingDisabled
}

// handleStepError maps an error of a step to a condition or to a retry. Name conflicts and refusals
// become conditions: they need a person, or pass by themselves.
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

// requeueWithin requests another reconciliation after d, even if no watched object
// changes until then.
func (p *pass) requeueWithin(d time.Duration) {
	p.again = sooner(p.again, d)
}

// result is the result of a pass. after is the time after which its last step asked for another
// one; 0 is only when something changes.
func (p *pass) result(after time.Duration) ctrl.Result {
	return ctrl.Result{RequeueAfter: sooner(after, p.again)}
}

// writeStatus writes the results of the steps in one patch, and emits events only if that
// succeeded. The patch has the resource version that was read, so that the API server refuses a
// status computed from a stale cache.
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
