package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cairn-mpi/cairn/api/messages"
)

const (
	// MaxRuns is how many runs status lists; runCount counts all.
	MaxRuns = messages.MaxRuns
	// MaxAttempts is how many starts of the launcher status lists, the latest.
	MaxAttempts = 16
)

// TracedMPIJobStatus says what happened so far.
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

	// CompletionTime is when the report existed, or nothing more could be done.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Image is Cairn's image that this job was injected with and is processed by. An
	// upgrade of the operator does not change it; a retry does.
	// +optional
	Image string `json:"image,omitempty"`

	// Storage is what spec.storage.s3, or the installation's default, was when the
	// storage was found to work. Later changes of either do not move this job.
	// +optional
	Storage *S3Storage `json:"storage,omitempty"`

	// StorageReadyTime is when the storage was first found to work. Without it, nothing
	// of this job is known to lie there.
	// +optional
	StorageReadyTime *metav1.Time `json:"storageReadyTime,omitempty"`

	// Retry is the last value of the annotation cairn.dev/retry that was acted on.
	// +optional
	Retry *RetryStatus `json:"retry,omitempty"`

	// StorageRefusal is the step that the storage refused last.
	// +optional
	StorageRefusal *StorageRefusal `json:"storageRefusal,omitempty"`

	// Suspend is the value of spec.suspend that was passed on to the MPIJob last.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// StorageURI is where everything of this job lies. It does not move once the
	// storage was found to work.
	// +optional
	StorageURI string `json:"storageURI,omitempty"`

	// Verdict is the report's first sentence: what makes this job slow.
	// +optional
	Verdict string `json:"verdict,omitempty"`

	// Attempts are the starts of the launcher that were seen, at most 16 (the
	// latest).
	// +optional
	// +listType=map
	// +listMapKey=attempt
	// +kubebuilder:validation:MaxItems=16
	Attempts []Attempt `json:"attempts,omitempty"`

	// Lost names the ranks that pods could not send, as their sidecars said when they
	// ended; at most 16 lines.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Lost []string `json:"lost,omitempty"`

	// PodFailures names the pods of the job that were evicted or preempted, and containers
	// that ran out of memory; at most 16.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	PodFailures []string `json:"podFailures,omitempty"`

	// Runs are the MPI worlds that were traced: the 16 that lack most or were least
	// efficient. The object runs.json below storageURI lists all.
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=16
	Runs []Run `json:"runs,omitempty"`

	// RunCount counts all runs, also those that are not listed.
	// +optional
	RunCount int32 `json:"runCount,omitempty"`

	// Analyses that were asked for when the merge began, and what became of them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Analyses []AnalysisStatus `json:"analyses,omitempty"`

	// Conditions: StorageReady, Traced, JobFinished, TraceCollected, TraceMerged,
	// Analyzed, and Ready, which sums them up.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RetryStatus says which retry was started last.
type RetryStatus struct {
	// Nonce is the value of the annotation.
	Nonce string `json:"nonce"`
	// Count of the new starts so far: one for each retry, and one for each time that a
	// storage that had refused a step worked again. Jobs of a new start have it in their
	// names.
	Count int32 `json:"count"`
}

// StorageRefusal says which step the storage refused.
type StorageRefusal struct {
	// Step that was refused: merge, analysis or report.
	Step string `json:"step"`
	// Since is when it was refused for the first time. If it starts again and is refused
	// again, this does not change: the step fails a week later.
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
	// Attempt counts the starts that were seen, from 0.
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
	// ExitCode of the container, once it ended by itself.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

// Run is one MPI world that was traced.
type Run struct {
	// ID is attempt/run.
	ID string `json:"id"`
	// Attempt of the launcher that this run belongs to.
	Attempt int32 `json:"attempt"`
	// Ranks in the world.
	// +optional
	Ranks int32 `json:"ranks,omitempty"`
	// MissingRanks lists the ranks whose trace is missing, such as "2-3,7".
	// +optional
	MissingRanks string `json:"missingRanks,omitempty"`
	// Calls of MPI functions in the trace.
	// +optional
	Calls int64 `json:"calls,omitempty"`
	// CallsLost is how many calls were made and not recorded.
	// +optional
	CallsLost int64 `json:"callsLost,omitempty"`
	// Failed says why there is no report of this run, or one that lacks findings.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Failed string `json:"failed,omitempty"`
	// TraceBytes is the size of the trace.
	// +optional
	TraceBytes int64 `json:"traceBytes,omitempty"`
	// TraceURI is where the trace lies.
	// +optional
	TraceURI string `json:"traceURI,omitempty"`
	// ReportURI is where the report lies.
	// +optional
	ReportURI string `json:"reportURI,omitempty"`
	// ParallelEfficiencyPercent is mean time outside MPI over run time.
	// +optional
	ParallelEfficiencyPercent *int32 `json:"parallelEfficiencyPercent,omitempty"`
	// Clusters is how many groups of ranks there are that behave alike, by the path
	// that they take through the program and by whom they talk to. The report says
	// which, with a lead rank for each.
	// +optional
	Clusters int32 `json:"clusters,omitempty"`
	// Topology is the shape in which the ranks talk: "8 x 4 torus", "irregular".
	// +optional
	Topology string `json:"topology,omitempty"`
}

// AnalysisState says how far an analysis is.
//
// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed
type AnalysisState string

const (
	// AnalysisPending has not begun.
	AnalysisPending AnalysisState = "Pending"
	// AnalysisRunning is being computed.
	AnalysisRunning AnalysisState = "Running"
	// AnalysisSucceeded has its findings in storage, for every run.
	AnalysisSucceeded AnalysisState = "Succeeded"
	// AnalysisFailed has no findings for at least one run.
	AnalysisFailed AnalysisState = "Failed"
)

// AnalysisStatus says what became of an analysis.
type AnalysisStatus struct {
	// Name of the analysis.
	Name AnalysisName `json:"name"`
	// State of the analysis.
	State AnalysisState `json:"state"`
	// Reason for a failure.
	// +optional
	Reason string `json:"reason,omitempty"`
}
