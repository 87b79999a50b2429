package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
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

const (
	// CheckLabel is on the Jobs that check storage, and on their pods: the hash of what they check.
	CheckLabel = "cairn.dev/check"
	// failuresAnnotation counts the checks that failed before this one, without one that passed between.
	failuresAnnotation = "cairn.dev/failures"
	// lastAnswerAnnotation is what the check before this one found, and lastEndedAnnotation when, for those who look after
	// it was replaced.
	lastAnswerAnnotation = "cairn.dev/last-answer"
	lastEndedAnnotation  = "cairn.dev/last-ended"

	// checkDeadlineSeconds bounds one check, pulling the image included.
	checkDeadlineSeconds = 120
	// checkTTLSeconds is how long the answer is kept: longer than it holds, and than the longest pause.
	checkTTLSeconds = 15 * 60
	// checkHolds is how long a check that passed holds.
	checkHolds = 10 * time.Minute
)

// storageCheck is the latest check of a storage.
type storageCheck struct {
	job *batchv1.Job
	// ended is zero while it is on its way.
	ended  time.Time
	answer messages.StorageCheck
	// before is what the check before this one found, and beforeEnded when, while this one is on its way; nil if that is
	// not known.
	before      *messages.StorageCheck
	beforeEnded time.Time
	// again is when the next one may be needed; 0 if an event tells.
	again time.Duration
}

func (c storageCheck) passed() bool { return !c.ended.IsZero() && c.answer.OK }
func (c storageCheck) failed() bool { return !c.ended.IsZero() && !c.answer.OK }

// trouble is what is known to be wrong: by this check, or by the one before it while this one is on its way.
func (c storageCheck) trouble() *messages.StorageTrouble {
	switch {
	case c.failed():
		return &messages.StorageTrouble{Reason: c.answer.Reason, Message: c.answer.Message}
	case c.ended.IsZero() && c.before != nil && !c.before.OK:
		return &messages.StorageTrouble{Reason: c.before.Reason, Message: c.before.Message}
	}
	return nil
}

// check is the latest check of a storage. If there is none, or it passed longer than holds ago or not after a time, or it
// failed and its pause is over, the next one is started.
func (p *pass) check(ctx context.Context, s3 *v1alpha1.S3Storage, holds time.Duration, after time.Time) (storageCheck, error) {
	wanted := p.checkJob(s3)
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

// checkJob is the Job that writes to the storage what a job would write, with the job's own credentials. Its name tells
// everything that decides what it can find: the storage, the image, and what the pod template says.
func (p *pass) checkJob(s3 *v1alpha1.S3Storage) *batchv1.Job {
	template := p.job.Spec.Merge.PodTemplate
	template.ImagePullSecrets = pullSecrets(p.job, p.Settings, template)
	key, err := json.Marshal([]any{p.job.Namespace, s3, p.image(), p.PullPolicy, template})
	if err != nil {
		panic(err) // a programming error: plain structs
	}
	sum := sha256.Sum256(key)
	hash := hex.EncodeToString(sum[:])[:10]
	// An empty name: the pods are in the operator's cache, and no job's own.
	labels := map[string]string{JobLabel: "", StepLabel: stepStorage, CheckLabel: hash}
	job := buildJob(p.job.Namespace, labels, p.settings(), s3, task{
		step: stepStorage, name: "cairn-check-" + hash,
		args:            []string{"check-storage", "--store", namespaceURI(s3, p.job.Namespace)},
		deadlineSeconds: checkDeadlineSeconds,
		impatient:       true,
		template:        template,
	})
	job.Spec.TTLSecondsAfterFinished = ptr.To[int32](checkTTLSeconds)
	job.Annotations[failuresAnnotation] = "0"
	return job
}

// failuresBefore is how many checks failed before this one.
func failuresBefore(check *batchv1.Job) int {
	failures, err := strconv.Atoi(check.Annotations[failuresAnnotation])
	if err != nil {
		return 0
	}
	return failures
}

// checkOnItsWay is a check that has not ended, with what the one before it found.
func checkOnItsWay(job *batchv1.Job) storageCheck {
	check := storageCheck{job: job}
	before := &messages.StorageCheck{}
	if messages.Decode(job.Annotations[lastAnswerAnnotation], before) {
		check.before = before
	}
	if ended, err := time.Parse(time.RFC3339, job.Annotations[lastEndedAnnotation]); err == nil {
		check.beforeEnded = ended
	}
	return check
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

// readStorageAnswer reads the termination message of a check, which may have failed.
func readStorageAnswer(message string, how failure) messages.StorageCheck {
	var answer messages.StorageCheck
	if messages.Decode(message, &answer) && (answer.OK || answer.Reason != "") {
		return answer
	}
	said := terminationWords(message)
	if how.outOfMemory {
		said = how.String()
	}
	return messages.StorageCheck{Reason: messages.StorageOther, Message: strings.TrimSuffix(
		fmt.Sprintf("the check ended with exit code %d without saying what it found: %s", how.exitCode, said), ": ")}
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
