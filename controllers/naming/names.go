package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// Labels of everything that belongs to a TracedMPIJob.
const (
	// JobLabel is its name. The operator's cache holds only pods that have it.
	JobLabel = "cairn.dev/job"
	// JobUIDLabel tells it from an earlier one of the same name.
	JobUIDLabel = "cairn.dev/job-uid"
	// StepLabel is what a Job of ours is for.
	StepLabel = "cairn.dev/step"
)

// Values of StepLabel.
const (
	StepStorage  = "storage"
	StepMerge    = "merge"
	StepAnalysis = "analysis"
	StepReport   = "report"
	StepDelete   = "delete"
)

// Labels are those of everything that belongs to a job.
func Labels(job *v1alpha1.TracedMPIJob) map[string]string {
	return map[string]string{JobLabel: job.Name, JobUIDLabel: string(job.UID)}
}

// maxJobName leaves room in 63 characters for "-r1" and for the index that an Indexed
// Job adds to
// the host names of its pods.
const maxJobName = 56

// Child is the name of a Job of ours. It depends on nothing but its arguments,
// so that a step repeated finds what it has already made.
func Child(job *v1alpha1.TracedMPIJob, parts ...string) string {
	name := job.Name + "-cairn-" + strings.Join(parts, "-")
	if len(name) <= maxJobName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	mark := "-" + hex.EncodeToString(sum[:])[:6]
	return strings.TrimRight(name[:maxJobName-len(mark)], "-") + mark
}
