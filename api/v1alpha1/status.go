package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cairn-mpi/cairn/api/messages"
)

const (
	// MaxRuns is the maximum number of runs in the status. runCount counts all.
	MaxRuns = messages.MaxRuns
	// MaxAttempts is the maximum number of starts of the launcher in the status. The latest are
	// kept.
	MaxAttempts = 16
)

// TracedMPIJobStatus is what has happened so far.
type TracedMPIJobStatus struct {
	// ObservedGeneration of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// MPIJobRef is the MPIJob that was created.
	// +optional
	MPIJobRef *MPIJobReference `json:"mpiJobRef,omitempty"`

	// StartTime is when the MPIJob was created.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the report was written, or when nothing more could be done.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Image is Cairn's image that this job was injected with and is processed by. An upgrade of the
	// operator does not change it. A retry does.
	// +optional
	Image string `json:"image,omitempty"`

	// Storage is spec.storage.s3, or the installation's default, at the time when the storage was
	// found to work. Later changes of either do not affect this job.
	// +optional
	Storage *S3Storage `json:"storage,omitempty"`

	// StorageReadyTime is when the storage was first found to work. If it is not set, nothing of
	// this job has been stored.
	// +optional
	StorageReadyTime *metav1.Time `json:"storageReadyTime,omitempty"`

	// Retry is the last value of the annotation cairn.dev/retry that was processed.
	// +optional
	Retry *RetryStatus `json:"retry,omitempty"`

	// StorageRefusal is the step that the storage refused most recently.
	// +optional
	StorageRefusal *StorageRefusal `json:"storageRefusal,omitempty"`

	// Suspend is the value of spec.suspend that was last copied to the MPIJob.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// StorageURI is the URI below which everything of this job is stored. It does not change once
	// the storage was found to work.
	// +optional
	StorageURI string `json:"storageURI,omitempty"`

	// Verdict is the first sentence of the report: what makes this job slow.
	// +optional
	Verdict string `json:"verdict,omitempty"`

	// Attempts are the observed starts of the launcher, at most 16 (the latest).
	// +optional
	// +listType=map
	// +listMapKey=attempt
	// +kubebuilder:validation:MaxItems=16
	Attempts []Attempt `json:"attempts,omitempty"`

	// Lost names the ranks that pods could not send, as reported by their sidecars at their end. At
	// most 16 lines.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Lost []string `json:"lost,omitempty"`

	// PodFailures names the pods of the job that were evicted or preempted, and containers that ran
	// out of memory. At most 16.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	PodFailures []string `json:"podFailures,omitempty"`

	// Runs are the traced runs, one for each MPI_COMM_WORLD: the 16 that are least complete or
	// least efficient. The object runs.json below storageURI lists all.
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=16
	Runs []Run `json:"runs,omitempty"`

	// RunCount counts all runs, including those that are not listed.
	// +optional
	RunCount int32 `json:"runCount,omitempty"`

	// Analyses that were requested when the merge began, and their results.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Analyses []AnalysisStatus `json:"analyses,omitempty"`

	// Conditions: StorageReady, Traced, JobFinished, TraceCollected, TraceMerged, Analyzed, and
	// Ready, which summarizes the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RetryStatus is the most recent retry.
type RetryStatus struct {
	// Nonce is the value of the annotation.
	Nonce string `json:"nonce"`
	// Count of restarts so far: one for each retry, and one for each time that a storage that had
	// refused a step worked again. The names of new Jobs contain it.
	Count int32 `json:"count"`
}

// StorageRefusal is a step that the storage refused.
type StorageRefusal struct {
	// Step is the refused step: merge, analysis or report.
	Step string `json:"step"`
	// Since is when the step was first refused. If it is restarted and refused again, this does not
	// change. The step fails a week later.
	Since metav1.Time `json:"since"`
}

// MPIJobReference names an MPIJob in the same namespace.
type MPIJobReference struct {
	// Name of the MPIJob.
	Name string `json:"name"`
	// UID of the MPIJob.
	UID types.UID `json:"uid"`
}

// Attempt is one start of the launcher.
type Attempt struct {
	// Attempt is the number of the start, from 0.
	Attempt int32 `json:"attempt"`
	// PodUID of the launcher pod.
	PodUID types.UID `json:"podUID"`
	// RestartCount of the launcher container in that pod.
	RestartCount int32 `json:"restartCount"`
	// StartedAt is when the container started.
	// +optional
	StartedAt metav1.Time `json:"startedAt,omitempty"`
	// FinishedAt is when the container ended.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// ExitCode of the container, if it ended by itself.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

// Run is one MPI_COMM_WORLD that was traced.
type Run struct {
	// ID is <attempt>/<run>.
	ID string `json:"id"`
	// Attempt of the launcher that this run belongs to.
	Attempt int32 `json:"attempt"`
	// Ranks is the size of MPI_COMM_WORLD.
	// +optional
	Ranks int32 `json:"ranks,omitempty"`
	// MissingRanks lists the ranks without a trace, such as "2-3,7".
	// +optional
	MissingRanks string `json:"missingRanks,omitempty"`
	// Calls is the number of MPI calls in the trace.
	// +optional
	Calls int64 `json:"calls,omitempty"`
	// CallsLost is the number of calls that were made but not recorded.
	// +optional
	CallsLost int64 `json:"callsLost,omitempty"`
	// Failed is the reason why this run has no report, or an incomplete one.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Failed string `json:"failed,omitempty"`
	// TraceBytes is the size of the trace.
	// +optional
	TraceBytes int64 `json:"traceBytes,omitempty"`
	// TraceURI is the URI of the trace.
	// +optional
	TraceURI string `json:"traceURI,omitempty"`
	// ReportURI is the URI of the report.
	// +optional
	ReportURI string `json:"reportURI,omitempty"`
	// ParallelEfficiencyPercent is the mean time outside MPI, in percent of the run time.
	// +optional
	ParallelEfficiencyPercent *int32 `json:"parallelEfficiencyPercent,omitempty"`
	// Clusters is the number of groups of ranks with the same behavior, by call paths and
	// communication partners. The report lists them, with a lead rank for each.
	// +optional
	Clusters int32 `json:"clusters,omitempty"`
	// Topology is the shape of the communication: "8 x 4 torus", "irregular".
	// +optional
	Topology string `json:"topology,omitempty"`
}

// AnalysisState is the progress of an analysis.
//
// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed
type AnalysisState string

const (
	// AnalysisPending: it has not begun.
	AnalysisPending AnalysisState = "Pending"
	// AnalysisRunning: it is being computed.
	AnalysisRunning AnalysisState = "Running"
	// AnalysisSucceeded: its findings are in storage, for every run.
	AnalysisSucceeded AnalysisState = "Succeeded"
	// AnalysisFailed: at least one run has no findings.
	AnalysisFailed AnalysisState = "Failed"
)

// AnalysisStatus is the state of an analysis.
type AnalysisStatus struct {
	// Name of the analysis.
	Name AnalysisName `json:"name"`
	// State of the analysis.
	State AnalysisState `json:"state"`
	// Reason for a failure.
	// +optional
	Reason string `json:"reason,omitempty"`
}
