package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TracingMode is whether the job is traced, and how.
//
// +kubebuilder:validation:Enum=Enabled;Disabled;Clustered
type TracingMode string

const (
	// TracingEnabled traces the job.
	TracingEnabled TracingMode = "Enabled"
	// TracingDisabled runs the MPIJob unchanged, without any part of Cairn.
	TracingDisabled TracingMode = "Disabled"
	// TracingClustered traces the job, and clusters its ranks at run time.
	TracingClustered TracingMode = "Clustered"
)

// FailurePolicy is what happens to a job that cannot be traced.
//
// +kubebuilder:validation:Enum=Ignore;Fail
type FailurePolicy string

const (
	// FailurePolicyIgnore lets the job run untraced, and reports that in a condition.
	FailurePolicyIgnore FailurePolicy = "Ignore"
	// FailurePolicyFail stops the job.
	FailurePolicyFail FailurePolicy = "Fail"
)

// TimingMode is how precisely times are kept.
//
// +kubebuilder:validation:Enum=Lossless;Lossy;Aggregated
type TimingMode string

const (
	// TimingLossless keeps every time stamp, in clock ticks.
	TimingLossless TimingMode = "Lossless"
	// TimingLossy keeps times within a relative error.
	TimingLossy TimingMode = "Lossy"
	// TimingAggregated keeps statistics only.
	TimingAggregated TimingMode = "Aggregated"
)

// FunctionGroup is a set of MPI functions that can be left out of a trace.
//
// +kubebuilder:validation:Enum=p2p;collective;comm;rma;io;datatype;query;tool;environment
type FunctionGroup string

// InitialState is whether tracing is on when the program starts.
//
// +kubebuilder:validation:Enum="On";"Off"
type InitialState string

const (
	// InitialStateOn records from the first call.
	InitialStateOn InitialState = "On"
	// InitialStateOff records from MPI_Pcontrol(1) on.
	InitialStateOff InitialState = "Off"
)

// CallSites is which source locations are kept for a call.
//
// +kubebuilder:validation:Enum=None;Caller;Path
type CallSites string

const (
	// CallSitesNone keeps none.
	CallSitesNone CallSites = "None"
	// CallSitesCaller keeps the call site of each call.
	CallSitesCaller CallSites = "Caller"
	// CallSitesPath keeps the whole call path, out to main.
	CallSitesPath CallSites = "Path"
)

// Tracing configures what is recorded, and how the tracer runs in the job's pods.
//
// +kubebuilder:validation:XValidation:rule="!has(self.clustering) || self.mode == 'Clustered'",message="clustering goes with mode Clustered"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Clustered' || !has(self.timing) || !has(self.timing.mode) || self.timing.mode != 'Aggregated'",message="mode Clustered needs the times of calls, not timing.mode Aggregated"
// +kubebuilder:validation:XValidation:rule="!(has(self.include) && size(self.include) > 0 && has(self.exclude) && size(self.exclude) > 0)",message="include and exclude do not go together"
type Tracing struct {
	// Mode: Enabled traces the job. Clustered traces it, too, but keeps the times of single calls
	// for only one of several ranks that make the same calls, as long as they do. Disabled runs the
	// plain MPIJob.
	// +optional
	// +kubebuilder:default:=Enabled
	Mode TracingMode `json:"mode,omitempty"`

	// Clustering configures when ranks are considered to make the same calls, with mode Clustered.
	// +optional
	Clustering *Clustering `json:"clustering,omitempty"`

	// FailurePolicy for a job that cannot be traced: Ignore runs it untraced, Fail stops it. In
	// both cases the condition Traced has the reason.
	// +optional
	// +kubebuilder:default:=Ignore
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`

	// Timing configures how precisely the times of calls are kept.
	// +optional
	// +kubebuilder:default:={}
	Timing Timing `json:"timing,omitempty"`

	// InitialState: On records from the first call. Off records only calls that create or free a
	// handle until the program calls MPI_Pcontrol(1). MPI_Pcontrol(0) turns tracing off again.
	// +optional
	// +kubebuilder:default:=On
	InitialState InitialState `json:"initialState,omitempty"`

	// Include, if set, records only these groups of functions, and calls that create or free a
	// handle.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=9
	Include []FunctionGroup `json:"include,omitempty"`

	// Exclude omits these groups of functions, except calls that create or free a handle. The time
	// in omitted calls counts as computation.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=9
	Exclude []FunctionGroup `json:"exclude,omitempty"`

	// CallSites: Caller keeps where each MPI call was made, or where the wrapper was called that it
	// is in. Path keeps the call and its callers, out to main. None keeps neither.
	// +optional
	// +kubebuilder:default:=Caller
	CallSites CallSites `json:"callSites,omitempty"`

	// Pointers keeps in which memory the buffers of MPI calls are: heap, stack, static data,
	// devices, with the offset. Every allocation of the job takes slightly longer (tens of
	// nanoseconds).
	// +optional
	Pointers bool `json:"pointers,omitempty"`

	// ContainerName is the container that runs MPI, in launcher and workers. The default is the
	// first container.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ContainerName *string `json:"containerName,omitempty"`

	// Spool is where a pod's ranks write their records before they are sent to storage.
	// +optional
	// +kubebuilder:default:={}
	Spool Spool `json:"spool,omitempty"`

	// GracePeriodSeconds is how long a stopped pod may take to send what is left. A longer
	// terminationGracePeriodSeconds in the template is kept.
	// +optional
	// +kubebuilder:default:=120
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`

	// CollectTimeoutSeconds is how long the merge waits, after the end of the job, for missing
	// traces. Then it continues and names the missing ranks.
	// +optional
	// +kubebuilder:default:=300
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	CollectTimeoutSeconds *int32 `json:"collectTimeoutSeconds,omitempty"`

	// Resources of the sidecar that sends traces to storage. If all containers of a pod have equal
	// requests and limits, the sidecar has, too.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
}

// ClusteringArguments is whether arguments matter when a rank's calls are compared with its earlier
// ones.
//
// +kubebuilder:validation:Enum=Compared;Ignored
type ClusteringArguments string

const (
	// ClusteringArgumentsCompared: calls with different arguments are different.
	ClusteringArgumentsCompared ClusteringArguments = "Compared"
	// ClusteringArgumentsIgnored: only functions and call sites are compared.
	ClusteringArgumentsIgnored ClusteringArguments = "Ignored"
)

// Clustering configures when ranks are considered to make the same calls. At markers (every so many
// blocking collectives of all processes, or calls of MPI_Pcontrol(100)) all ranks vote.
type Clustering struct {
	// Arguments: Compared traces all ranks again when a rank's arguments change. Ignored does so
	// only when it calls other functions, or calls from other call sites.
	// +optional
	// +kubebuilder:default:=Compared
	Arguments ClusteringArguments `json:"arguments,omitempty"`

	// Frames is how many of the outermost frames of a call path may differ between calls that are
	// considered the same, with callSites Path.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	Frames *int32 `json:"frames,omitempty"`

	// WaitSeconds is how long a rank waits at a marker for the others before clustering ends for
	// this job.
	// +optional
	// +kubebuilder:default:=60
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	WaitSeconds *int32 `json:"waitSeconds,omitempty"`
}

// Timing configures how precisely the times of calls are kept.
//
// +kubebuilder:validation:XValidation:rule="!has(self.functions) || self.functions.size() == 0 || !has(self.mode) || self.mode == 'Lossy'",message="functions have an error of their own only with mode Lossy"
type Timing struct {
	// Mode: Lossy keeps the duration of every call, and the time between calls, within
	// errorPercent. Lossless keeps every time stamp, in three times the space. Aggregated keeps
	// only statistics for each kind of call of a rank, without a critical path and wait states.
	// +optional
	// +kubebuilder:default:=Lossy
	Mode TimingMode `json:"mode,omitempty"`

	// ErrorPercent is the maximum relative error of a duration, and of the time between two calls,
	// in mode Lossy.
	// +optional
	// +kubebuilder:default:=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	ErrorPercent *int32 `json:"errorPercent,omitempty"`

	// Functions with a different error of their times, in mode Lossy.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Functions []FunctionTiming `json:"functions,omitempty"`
}

// FunctionTiming is the error of the times of one MPI function.
type FunctionTiming struct {
	// Name of the function in C, such as MPI_Barrier.
	// +kubebuilder:validation:Pattern=`^MPI_[A-Za-z0-9_]+$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// ErrorPercent is the maximum relative error of its durations, and of the time before its
	// calls.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	ErrorPercent int32 `json:"errorPercent"`
}

// Spool is where a pod's ranks write their records before they are sent to storage.
type Spool struct {
	// SizeLimit of the spool of one pod, from 16Mi to 16Ti. Before it is reached, tracing stops and
	// reports that.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 16777216 && self <= 17592186044416 : isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('16Mi')) >= 0 && quantity(string(self)).compareTo(quantity('16Ti')) <= 0",message="spool.sizeLimit must be from 16Mi to 16Ti"
	// +kubebuilder:default:="2Gi"
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}
