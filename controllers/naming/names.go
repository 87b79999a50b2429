package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// Labels of everything that belongs to a TracedMPIJob.
const (
	// JobLabel is the name of the job. The operator's cache has only pods with this label.
	JobLabel = "cairn.dev/job"
	// JobUIDLabel distinguishes the job from an earlier one of the same name.
	JobUIDLabel = "cairn.dev/job-uid"
	// StepLabel is the purpose of a Job of Cairn.
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

// Labels returns the labels of everything that belongs to a job.
func Labels(job *v1alpha1.TracedMPIJob) map[string]string {
	return map[string]string{JobLabel: job.Name, JobUIDLabel: string(job.UID)}
}

// maxJobName leaves room in 63 characters for "-r1" and for the index that an Indexed Job appends
// to the host names of its pods.
const maxJobName = 56

// Child returns the name of a Job. It depends only on its arguments, so that a repeated step finds
// what it created before.
func Child(job *v1alpha1.TracedMPIJob, parts ...string) string {
	name := job.Name + "-cairn-" + strings.Join(parts, "-")
	if len(name) <= maxJobName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	mark := "-" + hex.EncodeToString(sum[:])[:6]
	return strings.TrimRight(name[:maxJobName-len(mark)], "-") + mark
}
