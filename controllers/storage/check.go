package storage

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
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/quote"
	"github.com/cairn-mpi/cairn/controllers/task"
)

const (
	// CheckLabel is on the Jobs that check storage, and on their pods: the hash of what they check.
	CheckLabel = "cairn.dev/check"
	// FailuresAnnotation counts the checks that failed before this one, without one that passed between.
	FailuresAnnotation = "cairn.dev/failures"
	// LastAnswerAnnotation is what the check before this one found, and LastEndedAnnotation when, for those who look after
	// it was replaced.
	LastAnswerAnnotation = "cairn.dev/last-answer"
	LastEndedAnnotation  = "cairn.dev/last-ended"

	// checkDeadlineSeconds bounds one check, pulling the image included.
	checkDeadlineSeconds = 120
	// checkTTLSeconds is how long the answer is kept: longer than it holds, and than the longest pause.
	checkTTLSeconds = 15 * 60
	// CheckHolds is how long a check that passed holds.
	CheckHolds = 10 * time.Minute
)

// Check is the latest check of a storage.
type Check struct {
	Job *batchv1.Job
	// ended is zero while it is on its way.
	Ended  time.Time
	Answer messages.StorageCheck
	// before is what the check before this one found, and beforeEnded when, while this one is on its way; nil if that is
	// not known.
	Before      *messages.StorageCheck
	beforeEnded time.Time
	// again is when the next one may be needed; 0 if an event tells.
	Again time.Duration
}

// Passed reports whether the check has ended, and the storage works.
func (c Check) Passed() bool { return !c.Ended.IsZero() && c.Answer.OK }

// Failed reports whether the check has ended, and the storage does not work.
func (c Check) Failed() bool { return !c.Ended.IsZero() && !c.Answer.OK }

// Trouble is what is known to be wrong: by this check, or by the one before it while this one is on its way.
func (c Check) Trouble() *messages.StorageTrouble {
	switch {
	case c.Failed():
		return &messages.StorageTrouble{Reason: c.Answer.Reason, Message: c.Answer.Message}
	case c.Ended.IsZero() && c.Before != nil && !c.Before.OK:
		return &messages.StorageTrouble{Reason: c.Before.Reason, Message: c.Before.Message}
	}
	return nil
}

// FailuresBefore is how many checks failed before this one.
func FailuresBefore(check *batchv1.Job) int {
	failures, err := strconv.Atoi(check.Annotations[FailuresAnnotation])
	if err != nil {
		return 0
	}
	return failures
}

// CheckOnItsWay is a check that has not ended, with what the one before it found.
func CheckOnItsWay(job *batchv1.Job) Check {
	check := Check{Job: job}
	before := &messages.StorageCheck{}
	if messages.Decode(job.Annotations[LastAnswerAnnotation], before) {
		check.Before = before
	}
	if ended, err := time.Parse(time.RFC3339, job.Annotations[LastEndedAnnotation]); err == nil {
		check.beforeEnded = ended
	}
	return check
}

// ReadStorageAnswer reads the termination message of a check, which may have failed.
func ReadStorageAnswer(message string, how task.Failure) messages.StorageCheck {
	var answer messages.StorageCheck
	if messages.Decode(message, &answer) && (answer.OK || answer.Reason != "") {
		return answer
	}
	said := quote.Termination(message)
	if how.OutOfMemory {
		said = how.String()
	}
	return messages.StorageCheck{Reason: messages.StorageOther, Message: strings.TrimSuffix(
		fmt.Sprintf("the check ended with exit code %d without saying what it found: %s", how.ExitCode, said), ": ")}
}

// NewCheckJob is the Job that writes to the storage what a job would write, with the job's own credentials. Its name tells
// everything that decides what it can find: the storage, the image, and what the pod template says.
func NewCheckJob(owner *v1alpha1.TracedMPIJob, with task.Installation, s3 *v1alpha1.S3Storage) *batchv1.Job {
	template := owner.Spec.Merge.PodTemplate
	template.ImagePullSecrets = task.PullSecrets(owner, with, template)
	key, err := json.Marshal([]any{owner.Namespace, s3, with.Image, with.PullPolicy, template})
	if err != nil {
		panic(err) // a programming error: plain structs
	}
	sum := sha256.Sum256(key)
	hash := hex.EncodeToString(sum[:])[:10]
	// An empty name: the pods are in the operator's cache, and no job's own.
	labels := map[string]string{naming.JobLabel: "", naming.StepLabel: naming.StepStorage, CheckLabel: hash}
	job := task.Build(owner.Namespace, labels, with, s3, task.Task{
		Step: naming.StepStorage, Name: "cairn-check-" + hash,
		Args:            []string{"check-storage", "--store", NamespaceURI(s3, owner.Namespace)},
		DeadlineSeconds: checkDeadlineSeconds,
		Impatient:       true,
		Template:        template,
	})
	job.Spec.TTLSecondsAfterFinished = ptr.To[int32](checkTTLSeconds)
	job.Annotations[FailuresAnnotation] = "0"
	return job
}
