package controllers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/quote"
	"github.com/cairn-mpi/cairn/controllers/refusal"
	"github.com/cairn-mpi/cairn/controllers/storage"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// stepsAfterJob are the steps with Jobs that follow the end of the launcher, in order.
var stepsAfterJob = []string{naming.StepMerge, naming.StepAnalysis, naming.StepReport}

// maxNonce is the number of characters of the annotation's value that are compared.
const maxNonce = 256

// retry restarts at the first failed step when the annotation requests it, with the operator's
// current image. A value that the object had when it was first seen, or that is set before the job
// has completed, requests nothing.
func (p *pass) retry(ctx context.Context) (next, error) {
	status := &p.job.Status
	nonce := quote.Shorten(p.job.Annotations[v1alpha1.RetryAnnotation], maxNonce)
	if nonce == "" || status.Retry != nil && status.Retry.Nonce == nonce {
		return proceed, nil
	}
	fresh := len(p.persisted.Status.Conditions) == 0
	step := p.firstFailed()
	switch {
	case fresh:
	case !p.completed():
		p.noRetry("nothing is retried: the job has not ended; steps that wait for the storage continue by themselves")
	case step == "":
		p.noRetry("nothing is retried: no step of this job failed")
	default:
		if err := p.startAgain(ctx, step); err != nil {
			return await, err // the request remains
		}
		p.Events.Eventf(p.job, nil, corev1.EventTypeNormal, v1alpha1.ReasonRetried, v1alpha1.ConditionReady,
			"the step %s starts again, with image %s", step, p.Image)
		status.Image = p.Image
		status.StorageRefusal = nil // the person who asks has returned
	}
	if status.Retry == nil {
		status.Retry = &v1alpha1.RetryStatus{}
	}
	status.Retry.Nonce = nonce
	return proceed, nil
}

func (p *pass) noRetry(why string) {
	p.Events.Eventf(p.job, nil, corev1.EventTypeNormal, v1alpha1.ReasonNotRetried, v1alpha1.ConditionReady, "%s", why)
}

// firstFailed returns the first step that failed permanently, or "" if none did.
func (p *pass) firstFailed() string {
	merged := p.condition(v1alpha1.ConditionTraceMerged)
	switch {
	case merged.Status == metav1.ConditionFalse && (merged.Reason == v1alpha1.ReasonMergeFailed || merged.Reason == v1alpha1.ReasonNoTrace):
		return naming.StepMerge
	case p.condition(v1alpha1.ConditionAnalyzed).Reason == v1alpha1.ReasonAnalysisFailed:
		return naming.StepAnalysis
	case p.condition(v1alpha1.ConditionReady).Reason == v1alpha1.ReasonReportFailed:
		return naming.StepReport
	}
	return ""
}

// startAgain takes the job back to a step. New Jobs get new names. Jobs of the repeated steps that
// still run are stopped; those that have ended are kept for their time to live, and are not read
// any more.
func (p *pass) startAgain(ctx context.Context, from string) error {
	steps := stepsAfterJob[slices.Index(stepsAfterJob, from):]
	if err := p.stopJobs(ctx, append([]string{naming.StepMerge}, steps...)); err != nil {
		return err
	}
	if err := p.expireJobs(ctx); err != nil {
		return err
	}
	status := &p.job.Status
	for _, step := range steps {
		switch step {
		case naming.StepMerge:
			status.Runs, status.RunCount, status.Analyses = nil, 0, nil
			p.unknown(v1alpha1.ConditionTraceCollected, v1alpha1.ConditionTraceMerged)
		case naming.StepAnalysis:
			for i := range status.Analyses {
				if a := &status.Analyses[i]; a.State != v1alpha1.AnalysisSucceeded {
					a.State, a.Reason = v1alpha1.AnalysisPending, ""
				}
			}
			p.unknown(v1alpha1.ConditionAnalyzed)
		case naming.StepReport:
			status.Verdict = ""
			p.unknown(v1alpha1.ConditionReady)
		}
	}
	status.CompletionTime = nil
	if status.Retry == nil {
		status.Retry = &v1alpha1.RetryStatus{}
	}
	status.Retry.Count++
	return nil
}

func (p *pass) unknown(kinds ...string) {
	for _, kind := range kinds {
		p.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonPending, "")
	}
}

// stopJobs deletes the Jobs of some steps that have not ended. This includes the Job that merged a
// small job and waits for the findings of others.
func (p *pass) stopJobs(ctx context.Context, steps []string) error {
	for _, step := range steps {
		jobs, err := p.jobsOf(ctx, step)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if task.TerminalCondition(&job) != nil {
				continue
			}
			// Foreground deletion keeps the Job until its pods are gone, so that no other pods work
			// at the same time.
			if err := p.Delete(ctx, &job, client.PropagationPolicy(metav1.DeletePropagationForeground),
				client.Preconditions{UID: &job.UID}); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// maxPersonWait limits how long a refused step waits for a person: long enough for a holiday.
// Starts that are refused as well do not extend it: a check can succeed with other credentials than
// those of the step.
const maxPersonWait = 7 * 24 * time.Hour

// waitsForPerson reports whether the storage refused a Job of a step, and there is still time for a
// person to repair it.
func (p *pass) waitsForPerson(step string, o task.Outcome) bool {
	since := o.Ended
	if refusal := p.job.Status.StorageRefusal; refusal != nil && refusal.Step == step {
		since = refusal.Since.Time
	}
	return o.Refused() != nil && p.Clock.Since(since) < maxPersonWait
}

// awaitPerson waits until a person has repaired the storage that refused a step. A check that
// passes after the refusal shows that, and the step starts again. If it is refused nevertheless,
// the pauses grow.
func (p *pass) awaitPerson(ctx context.Context, step string, o task.Outcome) (next, error) {
	s3, trouble := p.s3(), o.Refused()
	if refusal := p.job.Status.StorageRefusal; refusal == nil || refusal.Step != step {
		p.job.Status.StorageRefusal = &v1alpha1.StorageRefusal{Step: step, Since: metav1.NewTime(o.Ended)}
	}
	check, err := p.check(ctx, s3, storage.CheckHolds, o.Ended)
	if err != nil {
		return await, err
	}
	if check.Passed() {
		if rest := refusal.Backoff(p.Retry, p.retries()) - p.Clock.Since(o.Ended); rest > 0 && p.retries() > 0 {
			p.notReady(v1alpha1.ReasonStorageNotReady, fmt.Sprintf("the storage works again; the step %s starts again in %s", step, rest.Round(time.Second)))
			return awaitFor(rest), nil
		}
		if err := p.startAgain(ctx, step); err != nil {
			return await, err
		}
		return await, nil // writing the status causes another reconciliation
	}
	if p.condition(v1alpha1.ConditionStorageReady).Status != metav1.ConditionFalse {
		p.set(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, storage.Reason(trouble.Reason),
			"the step "+step+": "+storage.Advice(*trouble, p.job.Namespace, s3))
	}
	p.notReady(v1alpha1.ReasonStorageNotReady, "the step "+step+" waits: "+p.condition(v1alpha1.ConditionStorageReady).Message)
	return awaitFor(check.Again), nil
}

// retries returns how often a step was started again.
func (p *pass) retries() int {
	if p.job.Status.Retry == nil {
		return 0
	}
	return int(p.job.Status.Retry.Count)
}

// child returns the name of a Job. Each retry changes it.
func (p *pass) child(parts ...string) string {
	if n := p.retries(); n > 0 {
		parts = append(slices.Clone(parts), "t"+strconv.Itoa(n))
	}
	return naming.Child(p.job, parts...)
}
