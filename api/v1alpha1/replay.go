package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// ReplayCompute says how the time between two MPI calls of a re-execution passes.
//
// +kubebuilder:validation:Enum=Busy;Sleep
type ReplayCompute string

const (
	// ReplayBusy takes as much of the processor's time as the program did.
	ReplayBusy ReplayCompute = "Busy"
	// ReplaySleep sleeps for as long.
	ReplaySleep ReplayCompute = "Sleep"
)

// Replay is a recorded trace that is executed again in place of a program: the same MPI calls with the same arguments,
// on the same number of ranks, with time between them as it was.
type Replay struct {
	// Trace is where the trace is in the job's storage: s3://<bucket>/<path>/trace.cairn, as .status.runs[].traceURI of
	// another TracedMPIJob has it. The job's key must be allowed to read it.
	// +required
	// +kubebuilder:validation:Pattern=`^s3://[^/ ]+/[^ ]+$`
	// +kubebuilder:validation:MaxLength=2048
	Trace string `json:"trace"`

	// Compute says how the time between two calls passes.
	// +optional
	// +kubebuilder:default:=Busy
	Compute ReplayCompute `json:"compute,omitempty"`

	// ComputePercent is how much of the recorded time passes between two calls: 50 for a processor twice as fast,
	// 0 for communication alone.
	// +optional
	// +kubebuilder:default:=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	ComputePercent *int32 `json:"computePercent,omitempty"`

	// MemoryLimit is how much memory the buffers of one rank may take. A trace whose calls need more is refused.
	// +optional
	MemoryLimit *resource.Quantity `json:"memoryLimit,omitempty"`
}
