package controllers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

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

// newCheckJob is the Job that writes to the storage what a job would write, with the job's own credentials. Its name tells
// everything that decides what it can find: the storage, the image, and what the pod template says.
func newCheckJob(owner *v1alpha1.TracedMPIJob, with installation, s3 *v1alpha1.S3Storage) *batchv1.Job {
	template := owner.Spec.Merge.PodTemplate
	template.ImagePullSecrets = pullSecrets(owner, with, template)
	key, err := json.Marshal([]any{owner.Namespace, s3, with.Image, with.PullPolicy, template})
	if err != nil {
		panic(err) // a programming error: plain structs
	}
	sum := sha256.Sum256(key)
	hash := hex.EncodeToString(sum[:])[:10]
	// An empty name: the pods are in the operator's cache, and no job's own.
	labels := map[string]string{JobLabel: "", StepLabel: stepStorage, CheckLabel: hash}
	job := buildJob(owner.Namespace, labels, with, s3, task{
		step: stepStorage, name: "cairn-check-" + hash,
		args:            []string{"check-storage", "--store", namespaceURI(s3, owner.Namespace)},
		deadlineSeconds: checkDeadlineSeconds,
		impatient:       true,
		template:        template,
	})
	job.Spec.TTLSecondsAfterFinished = ptr.To[int32](checkTTLSeconds)
	job.Annotations[failuresAnnotation] = "0"
	return job
}
