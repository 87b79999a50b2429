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
)

// A storage is checked by one Job for all TracedMPIJobs of a namespace that use it in the same way: cairn-check-<hash>.
// The Job is the cache of what it found, and belongs to none of them. Two hundred jobs that wait make one Job, and the
// one after it follows when the pause has passed.

// check is the latest check of a storage. If there is none, or it passed longer than holds ago or not after a time, or it
// failed and its pause is over, the next one is started.
func (p *pass) check(ctx context.Context, s3 *v1alpha1.S3Storage, holds time.Duration, after time.Time) (storageCheck, error) {
	wanted := newCheckJob(p.job, p.settings().installation, s3)
	found := &batchv1.Job{}
	err := p.Get(ctx, client.ObjectKeyFromObject(wanted), found)
	if apierrors.IsNotFound(err) {
		return p.startCheck(ctx, wanted)
	}
	if err != nil {
		return storageCheck{}, err
	}
	if found.Labels[CheckLabel] != wanted.Labels[CheckLabel] {
		return storageCheck{}, p.conflict(found)
	}
	last, err := p.checkEnd(ctx, found)
	if err != nil || last.ended.IsZero() {
		return last, err
	}
	failures := failuresBefore(found)
	age := p.Clock.Since(last.ended)
	switch {
	case last.passed() && last.ended.After(after):
		last.again = holds - age
	case last.failed():
		last.again = backoff(p.Retry, failures) - age
		failures++
	}
	if last.again > 0 {
		return last, nil
	}
	if last.passed() {
		failures = 0
	}
	wanted.Annotations[failuresAnnotation] = strconv.Itoa(failures)
	if raw, err := messages.Encode(last.answer.Fit()); err == nil {
		wanted.Annotations[lastAnswerAnnotation] = string(raw)
		wanted.Annotations[lastEndedAnnotation] = last.ended.UTC().Format(time.RFC3339)
	}
	return p.replaceCheck(ctx, last.job, wanted)
}

// replaceCheck starts the next check in place of one that has ended. Others may do so at the same time, or have.
func (p *pass) replaceCheck(ctx context.Context, last, wanted *batchv1.Job) (storageCheck, error) {
	err := p.Delete(ctx, last, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &last.UID})
	if apierrors.IsConflict(err) {
		check := checkOnItsWay(wanted) // another has replaced it: the cache is behind
		check.again = staleRetry
		return check, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return storageCheck{}, err
	}
	check, err := p.startCheck(ctx, wanted)
	if err != nil || check.before != nil || wanted.Annotations[lastAnswerAnnotation] == "" {
		return check, err
	}
	return p.tellOfLast(ctx, check, wanted)
}

// tellOfLast gives a check what the one before it found. Whoever looked between deletion and creation found none, and
// started this one without.
func (p *pass) tellOfLast(ctx context.Context, check storageCheck, wanted *batchv1.Job) (storageCheck, error) {
	job := check.job.DeepCopy()
	for _, name := range []string{failuresAnnotation, lastAnswerAnnotation, lastEndedAnnotation} {
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, name, wanted.Annotations[name])
	}
	if err := p.Patch(ctx, job, client.MergeFrom(check.job)); client.IgnoreNotFound(err) != nil {
		return storageCheck{}, err
	}
	told := checkOnItsWay(job)
	told.again = check.again
	return told, nil
}

func (p *pass) startCheck(ctx context.Context, wanted *batchv1.Job) (storageCheck, error) {
	err := p.ask(&refusedError{kind: "Job", name: wanted.Name, step: stepStorage}, func() error { return p.Create(ctx, wanted) })
	if err != nil {
		if !apierrors.IsAlreadyExists(err) {
			return storageCheck{}, err
		}
		// Another has started it, and the cache is behind. Its Job may know what the check before found.
		found := &batchv1.Job{}
		if err := p.Live.Get(ctx, client.ObjectKeyFromObject(wanted), found); apierrors.IsNotFound(err) {
			found = wanted
		} else if err != nil {
			return storageCheck{}, err
		}
		check := checkOnItsWay(found)
		check.again = staleRetry
		return check, nil
	}
	return checkOnItsWay(wanted), nil
}

// checkEnd is a check with its answer, if it has ended. That it passed is known as soon as its pod says so.
func (p *pass) checkEnd(ctx context.Context, job *batchv1.Job) (storageCheck, error) {
	var ended time.Time
	if end := terminalCondition(job); end != nil {
		ended = end.LastTransitionTime.Time
	} else if o, err := p.earlyOutcome(ctx, job); err != nil || !o.finished {
		return checkOnItsWay(job), err
	} else {
		ended = o.ended
	}
	answer, err := p.checkAnswer(ctx, job)
	return storageCheck{job: job, ended: ended, answer: answer}, err
}

// checkAnswer is what a check that has ended found, in any case something. It is read from the cache, unless that does
// not know of the pod's end yet.
func (p *pass) checkAnswer(ctx context.Context, job *batchv1.Job) (messages.StorageCheck, error) {
	for _, reader := range []client.Reader{p.Client, p.Live} {
		o, err := podsOutcome(ctx, reader, job)
		if err != nil {
			return messages.StorageCheck{}, err
		}
		if message, ended := o.messages[0]; ended {
			return readStorageAnswer(message, o.failed[0]), nil
		}
	}
	reason := "the check's pod is gone"
	if end := terminalCondition(job); end != nil && end.Type == batchv1.JobFailed {
		reason = end.Message
	}
	return messages.StorageCheck{Reason: messages.StorageOther, Message: "the check did not say what it found: " + reason}, nil
}

// checkTrouble says what keeps a check from starting; "" if nothing is known.
func (p *pass) checkTrouble(ctx context.Context, check storageCheck) string {
	if check.job == nil {
		return ""
	}
	if ptr.Deref(check.job.Spec.Suspend, false) {
		return fmt.Sprintf("Job %s is suspended: if a queue holds it, name the queue in spec.merge.podTemplate.metadata.labels", check.job.Name)
	}
	var pods corev1.PodList
	if err := p.List(ctx, &pods, client.InNamespace(check.job.Namespace),
		client.MatchingLabels{CheckLabel: check.job.Labels[CheckLabel]}); err != nil {
		return ""
	}
	own := controlledBy(pods.Items, check.job.UID)
	if trouble := summary(own, startTrouble); trouble != "" {
		return trouble
	}
	if warning := p.jobWarning(ctx, check.job, own); warning != "" {
		return fmt.Sprintf("Job %s: %s", check.job.Name, warning)
	}
	return ""
}
