package controllers

import (
	"context"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
	"github.com/cairn-mpi/cairn/controllers/refusal"
	"github.com/cairn-mpi/cairn/controllers/storage"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// One Job, cairn-check-<hash>, checks a storage for all TracedMPIJobs of a namespace that use it in
// the same way. The Job caches its result and belongs to none of them. Two hundred waiting jobs
// create one Job, and the next one follows after the pause.

// check returns the latest check of a storage. It starts the next one in three cases: there is
// none; the last one passed, but longer than holds ago or before after; the last one failed and its
// pause is over.
func (p *pass) check(ctx context.Context, s3 *v1alpha1.S3Storage, holds time.Duration, after time.Time) (storage.Check, error) {
	wanted := storage.NewCheckJob(p.job, p.settings().Installation, s3)
	found := &batchv1.Job{}
	err := p.Get(ctx, client.ObjectKeyFromObject(wanted), found)
	if apierrors.IsNotFound(err) {
		return p.startCheck(ctx, wanted)
	}
	if err != nil {
		return storage.Check{}, err
	}
	if found.Labels[storage.CheckLabel] != wanted.Labels[storage.CheckLabel] {
		return storage.Check{}, p.conflict(found)
	}
	last, err := p.checkEnd(ctx, found)
	if err != nil || last.Ended.IsZero() {
		return last, err
	}
	failures := storage.FailuresBefore(found)
	age := p.Clock.Since(last.Ended)
	switch {
	case last.Passed() && last.Ended.After(after):
		last.Again = holds - age
	case last.Failed():
		last.Again = refusal.Backoff(p.Retry, failures) - age
		failures++
	}
	if last.Again > 0 {
		return last, nil
	}
	if last.Passed() {
		failures = 0
	}
	wanted.Annotations[storage.FailuresAnnotation] = strconv.Itoa(failures)
	if raw, err := messages.Encode(last.Answer.Fit()); err == nil {
		wanted.Annotations[storage.LastAnswerAnnotation] = string(raw)
		wanted.Annotations[storage.LastEndedAnnotation] = last.Ended.UTC().Format(time.RFC3339)
	}
	return p.replaceCheck(ctx, last.Job, wanted)
}

// replaceCheck starts the next check in place of one that has ended. Other reconciliations may do
// so at the same time, or may have done so.
func (p *pass) replaceCheck(ctx context.Context, last, wanted *batchv1.Job) (storage.Check, error) {
	err := p.Delete(ctx, last, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &last.UID})
	if apierrors.IsConflict(err) {
		check := storage.CheckOnItsWay(wanted) // another one replaced it: the cache is stale
		check.Again = staleRetry
		return check, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return storage.Check{}, err
	}
	check, err := p.startCheck(ctx, wanted)
	if err != nil || check.Before != nil || wanted.Annotations[storage.LastAnswerAnnotation] == "" {
		return check, err
	}
	return p.keepLastAnswer(ctx, check, wanted)
}

// keepLastAnswer gives a check the result of the previous one. A reconciliation that looked between
// deletion and creation found none, and started this check without it.
func (p *pass) keepLastAnswer(ctx context.Context, check storage.Check, wanted *batchv1.Job) (storage.Check, error) {
	job := check.Job.DeepCopy()
	for _, name := range []string{storage.FailuresAnnotation, storage.LastAnswerAnnotation, storage.LastEndedAnnotation} {
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, name, wanted.Annotations[name])
	}
	if err := p.Patch(ctx, job, client.MergeFrom(check.Job)); client.IgnoreNotFound(err) != nil {
		return storage.Check{}, err
	}
	told := storage.CheckOnItsWay(job)
	told.Again = check.Again
	return told, nil
}

func (p *pass) startCheck(ctx context.Context, wanted *batchv1.Job) (storage.Check, error) {
	err := p.ask(&refusal.Error{Kind: "Job", Name: wanted.Name, Step: naming.StepStorage}, func() error { return p.Create(ctx, wanted) })
	if err != nil {
		if !apierrors.IsAlreadyExists(err) {
			return storage.Check{}, err
		}
		// Another reconciliation started it, and the cache is stale. Its Job may have the previous
		// result.
		found := &batchv1.Job{}
		if err := p.Live.Get(ctx, client.ObjectKeyFromObject(wanted), found); apierrors.IsNotFound(err) {
			found = wanted
		} else if err != nil {
			return storage.Check{}, err
		}
		check := storage.CheckOnItsWay(found)
		check.Again = staleRetry
		return check, nil
	}
	return storage.CheckOnItsWay(wanted), nil
}

// checkEnd returns a check, with its answer if it has ended. Success is recognized as soon as its
// pod reports it.
func (p *pass) checkEnd(ctx context.Context, job *batchv1.Job) (storage.Check, error) {
	var ended time.Time
	if end := task.TerminalCondition(job); end != nil {
		ended = end.LastTransitionTime.Time
	} else if o, err := p.earlyOutcome(ctx, job); err != nil || !o.Finished {
		return storage.CheckOnItsWay(job), err
	} else {
		ended = o.Ended
	}
	answer, err := p.checkAnswer(ctx, job)
	return storage.Check{Job: job, Ended: ended, Answer: answer}, err
}

// checkAnswer returns the result of a check that has ended. It is never empty. It is read from the
// cache, unless that does not have the pod's end yet.
func (p *pass) checkAnswer(ctx context.Context, job *batchv1.Job) (messages.StorageCheck, error) {
	for _, reader := range []client.Reader{p.Client, p.Live} {
		o, err := task.PodsOutcome(ctx, reader, job)
		if err != nil {
			return messages.StorageCheck{}, err
		}
		if message, ended := o.Messages[0]; ended {
			return storage.ReadStorageAnswer(message, o.Failed[0]), nil
		}
	}
	reason := "the check's pod is gone"
	if end := task.TerminalCondition(job); end != nil && end.Type == batchv1.JobFailed {
		reason = end.Message
	}
	return messages.StorageCheck{Reason: messages.StorageOther, Message: "the check did not report a result: " + reason}, nil
}

// checkTrouble returns what prevents a check from starting, or "" if nothing is known.
func (p *pass) checkTrouble(ctx context.Context, check storage.Check) string {
	if check.Job == nil {
		return ""
	}
	if ptr.Deref(check.Job.Spec.Suspend, false) {
		return fmt.Sprintf("Job %s is suspended: if a queue suspends it, name the queue in spec.merge.podTemplate.metadata.labels", check.Job.Name)
	}
	var pods corev1.PodList
	if err := p.List(ctx, &pods, client.InNamespace(check.Job.Namespace),
		client.MatchingLabels{storage.CheckLabel: check.Job.Labels[storage.CheckLabel]}); err != nil {
		return ""
	}
	own := podstatus.ControlledBy(pods.Items, check.Job.UID)
	if trouble := podstatus.Summary(own, podstatus.StartTrouble); trouble != "" {
		return trouble
	}
	if warning := p.jobWarning(ctx, check.Job, own); warning != "" {
		return fmt.Sprintf("Job %s: %s", check.Job.Name, warning)
	}
	return ""
}
