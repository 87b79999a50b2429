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
	// CheckLabel is set on the Jobs that check storage, and on their pods: the hash of what they
	// check.
	CheckLabel = "cairn.dev/check"
	// FailuresAnnotation is the number of consecutive failed checks before this one.
	FailuresAnnotation = "cairn.dev/failures"
	// LastAnswerAnnotation is the result of the previous check, and LastEndedAnnotation the time of
	// its end, for readers that look after it was replaced.
	LastAnswerAnnotation = "cairn.dev/last-answer"
	LastEndedAnnotation  = "cairn.dev/last-ended"

	// checkDeadlineSeconds limits one check, including the pull of the image.
	checkDeadlineSeconds = 120
	// checkTTLSeconds is how long the result is kept: longer than it is valid, and than the longest
	// pause.
	checkTTLSeconds = 15 * 60
	// CheckHolds is how long a passed check is valid.
	CheckHolds = 10 * time.Minute
)

// Check is the latest check of a storage.
type Check struct {
	Job *batchv1.Job
	// Ended is zero while the check is running.
	Ended  time.Time
	Answer messages.StorageCheck
	// Before is the result of the previous check, and BeforeEnded the time of its end, while this
	// one is running; nil if not known.
	Before      *messages.StorageCheck
	beforeEnded time.Time
	// Again is the time after which the next check may be needed; 0 if an event announces that.
	Again time.Duration
}

// Passed reports whether the check has ended and the storage works.
func (c Check) Passed() bool { return !c.Ended.IsZero() && c.Answer.OK }

// Failed reports whether the check has ended and the storage does not work.
func (c Check) Failed() bool { return !c.Ended.IsZero() && !c.Answer.OK }

// Trouble returns the known problem: from this check, or from the previous one while this one is
// running.
func (c Check) Trouble() *messages.StorageTrouble {
	switch {
	case c.Failed():
		return &messages.StorageTrouble{Reason: c.Answer.Reason, Message: c.Answer.Message}
	case c.Ended.IsZero() && c.Before != nil && !c.Before.OK:
		return &messages.StorageTrouble{Reason: c.Before.Reason, Message: c.Before.Message}
	}
	return nil
}

// FailuresBefore returns the number of consecutive failed checks before this one.
func FailuresBefore(check *batchv1.Job) int {
	failures, err := strconv.Atoi(check.Annotations[FailuresAnnotation])
	if err != nil {
		return 0
	}
	return failures
}

// CheckOnItsWay returns a check that has not ended, with the result of the previous one.
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

// ReadStorageAnswer parses the termination message of a check, which may have failed.
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
		fmt.Sprintf("the check ended with exit code %d without a result: %s", how.ExitCode, said), ": ")}
}

// NewCheckJob returns the Job that writes to the storage what a job would write, with the job's own
// credentials. Its name is a hash of everything that affects the result: the storage, the image,
// and the pod template.
func NewCheckJob(owner *v1alpha1.TracedMPIJob, with task.Installation, s3 *v1alpha1.S3Storage) *batchv1.Job {
	template := owner.Spec.Merge.PodTemplate
	template.ImagePullSecrets = task.PullSecrets(owner, with, template)
	key, err := json.Marshal([]any{owner.Namespace, s3, with.Image, with.PullPolicy, template})
	if err != nil {
		panic(err) // a programming error: plain structs
	}
	sum := sha256.Sum256(key)
	hash := hex.EncodeToString(sum[:])[:10]
	// The empty name makes the pods appear in the operator's cache without belonging to a job.
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
