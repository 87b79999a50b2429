package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// ReplayCompute is how a re-execution spends the time between two MPI calls.
//
// +kubebuilder:validation:Enum=Busy;Sleep
type ReplayCompute string

const (
	// ReplayBusy uses as much processor time as the program did.
	ReplayBusy ReplayCompute = "Busy"
	// ReplaySleep sleeps for the same time.
	ReplaySleep ReplayCompute = "Sleep"
)

// Replay is a recorded trace that is executed again instead of a program: the same MPI calls with
// the same arguments, on the same number of ranks, with the same time between them.
type Replay struct {
	// Trace is the URL of the trace in the job's storage: s3://<bucket>/<path>/trace.cairn, as in
	// .status.runs[].traceURI of another TracedMPIJob. The job's key must have permission to read
	// it.
	// +required
	// +kubebuilder:validation:Pattern=`^s3://[^/ ]+/[^ ]+$`
	// +kubebuilder:validation:MaxLength=2048
	Trace string `json:"trace"`

	// Compute is how the time between two calls is spent.
	// +optional
	// +kubebuilder:default:=Busy
	Compute ReplayCompute `json:"compute,omitempty"`

	// ComputePercent is the percentage of the recorded time that is spent between two calls: 50 for
	// a processor twice as fast, 0 for communication alone.
	// +optional
	// +kubebuilder:default:=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	ComputePercent *int32 `json:"computePercent,omitempty"`

	// MemoryLimit is the maximum memory for the buffers of one rank. A trace with calls that need
	// more is refused.
	// +optional
	MemoryLimit *resource.Quantity `json:"memoryLimit,omitempty"`
}
