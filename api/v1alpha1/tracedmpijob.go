package v1alpha1

import (
	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TracedMPIJob runs an MPIJob, traces every MPI call of every rank, and writes
// the trace and a performance report to object storage.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tmj,categories=all
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Ranks",type=integer,JSONPath=`.status.runs[-1:].ranks`
// +kubebuilder:printcolumn:name="Calls",type=integer,JSONPath=`.status.runs[-1:].calls`
// +kubebuilder:printcolumn:name="Trace-Bytes",type=integer,JSONPath=`.status.runs[-1:].traceBytes`
// +kubebuilder:printcolumn:name="PE %",type=integer,JSONPath=`.status.runs[-1:].parallelEfficiencyPercent`,description="Parallel efficiency: mean time outside MPI over run time"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Verdict",type=string,priority=1,JSONPath=`.status.verdict`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name may have at most 40 characters, so that the names made from it stay valid"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must start with a letter and have only lower-case letters, digits and '-', because pod host names are made from it"
type TracedMPIJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what to run and how to trace it.
	// +required
	Spec TracedMPIJobSpec `json:"spec"`

	// Status is what has happened so far. Only Cairn writes it.
	// +optional
	Status TracedMPIJobStatus `json:"status,omitempty"`
}

// TracedMPIJobList is a list of TracedMPIJobs.
//
// +kubebuilder:object:root=true
type TracedMPIJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TracedMPIJob `json:"items"`
}

// TracedMPIJobSpec is what to run and how to trace it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.tracing.containerName) || !('Launcher' in self.mpiJobTemplate.spec.mpiReplicaSpecs) || self.mpiJobTemplate.spec.mpiReplicaSpecs['Launcher'].template.spec.containers.exists(c, c.name == self.tracing.containerName)",message="tracing.containerName is not a container of the Launcher"
// +kubebuilder:validation:XValidation:rule="!has(self.tracing.containerName) || !('Worker' in self.mpiJobTemplate.spec.mpiReplicaSpecs) || self.mpiJobTemplate.spec.mpiReplicaSpecs['Worker'].template.spec.containers.exists(c, c.name == self.tracing.containerName)",message="tracing.containerName is not a container of the Worker: launcher and workers must call it the same"
// +kubebuilder:validation:XValidation:rule="has(self.replay) == has(oldSelf.replay)",message="replay is immutable: the job's pods are made once"
// +kubebuilder:validation:XValidation:rule="!has(self.replay) || !has(self.tracing.mode) || self.tracing.mode != 'Disabled'",message="a re-execution is traced: with spec.replay, tracing.mode may not be Disabled"
type TracedMPIJobSpec struct {
	// Suspend stops the job, or keeps it from starting. It is copied to the MPIJob's
	// runPolicy.suspend.
	// +optional
	// +kubebuilder:default:=false
	Suspend bool `json:"suspend,omitempty"`

	// TTLSecondsAfterFinished deletes this object, and the MPIJob with it, this many seconds after
	// the report was written or nothing more could be done. The trace and the report stay in the
	// bucket unless storage.deletionPolicy is Delete. Without a value the object stays.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// MPIJobTemplate is the MPIJob to run, unchanged. After creation, only
	// mpiReplicaSpecs.Worker.replicas may change.
	// +required
	MPIJobTemplate MPIJobTemplate `json:"mpiJobTemplate"`

	// Replay re-executes a recorded trace instead of a program. The launcher's command is mpirun
	// with its options, and ends where the name of the program would follow. An empty command is
	// mpirun.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="replay is immutable: the job's pods are made once"
	Replay *Replay `json:"replay,omitempty"`

	// Tracing configures what is recorded, and how the tracer runs in the job's pods. It cannot
	// change after creation, since pods are created once.
	// +optional
	// +kubebuilder:default:={}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="tracing is immutable: the job's pods are made once"
	Tracing Tracing `json:"tracing,omitempty"`

	// Storage is where traces and reports are stored. Without it, or without its s3 member, the
	// default storage of this Cairn installation is used.
	// +optional
	// +kubebuilder:default:={}
	Storage Storage `json:"storage,omitempty"`

	// Merge configures how the traces of the pods are merged.
	// +optional
	// +kubebuilder:default:={}
	Merge Merge `json:"merge,omitempty"`

	// Analyses lists what is computed from the trace. The list is read when the merge begins, and
	// again by a retry of the merge.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:default:={{name: "critical-path"}, {name: "clustering"}}
	Analyses []Analysis `json:"analyses,omitempty"`
}

// MPIJobTemplate describes the MPIJob that is created.
//
// The rules on immutability name every member of the specification except
// mpiReplicaSpecs.Worker.replicas.
//
// +kubebuilder:validation:XValidation:rule="'Launcher' in self.spec.mpiReplicaSpecs",message="spec.mpiReplicaSpecs must have a Launcher"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.runPolicy) || !has(self.spec.runPolicy.suspend) || !self.spec.runPolicy.suspend",message="spec.runPolicy.suspend must be left to Cairn: set spec.suspend of the TracedMPIJob"
// +kubebuilder:validation:XValidation:rule="has(self.metadata) == has(oldSelf.metadata) && (!has(self.metadata) || self.metadata == oldSelf.metadata)",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="has(self.spec.slotsPerWorker) == has(oldSelf.spec.slotsPerWorker) && (!has(self.spec.slotsPerWorker) || self.spec.slotsPerWorker == oldSelf.spec.slotsPerWorker)",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="has(self.spec.runLauncherAsWorker) == has(oldSelf.spec.runLauncherAsWorker) && (!has(self.spec.runLauncherAsWorker) || self.spec.runLauncherAsWorker == oldSelf.spec.runLauncherAsWorker)",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="has(self.spec.runPolicy) == has(oldSelf.spec.runPolicy) && (!has(self.spec.runPolicy) || self.spec.runPolicy == oldSelf.spec.runPolicy)",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="has(self.spec.sshAuthMountPath) == has(oldSelf.spec.sshAuthMountPath) && (!has(self.spec.sshAuthMountPath) || self.spec.sshAuthMountPath == oldSelf.spec.sshAuthMountPath)",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="has(self.spec.launcherCreationPolicy) == has(oldSelf.spec.launcherCreationPolicy) && (!has(self.spec.launcherCreationPolicy) || self.spec.launcherCreationPolicy == oldSelf.spec.launcherCreationPolicy)",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="has(self.spec.mpiImplementation) == has(oldSelf.spec.mpiImplementation) && (!has(self.spec.mpiImplementation) || self.spec.mpiImplementation == oldSelf.spec.mpiImplementation)",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="!('Launcher' in self.spec.mpiReplicaSpecs && 'Launcher' in oldSelf.spec.mpiReplicaSpecs) || self.spec.mpiReplicaSpecs['Launcher'] == oldSelf.spec.mpiReplicaSpecs['Launcher']",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="('Worker' in self.spec.mpiReplicaSpecs) == ('Worker' in oldSelf.spec.mpiReplicaSpecs)",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="!('Worker' in self.spec.mpiReplicaSpecs && 'Worker' in oldSelf.spec.mpiReplicaSpecs) || (has(self.spec.mpiReplicaSpecs['Worker'].template) == has(oldSelf.spec.mpiReplicaSpecs['Worker'].template) && (!has(self.spec.mpiReplicaSpecs['Worker'].template) || self.spec.mpiReplicaSpecs['Worker'].template == oldSelf.spec.mpiReplicaSpecs['Worker'].template))",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="!('Worker' in self.spec.mpiReplicaSpecs && 'Worker' in oldSelf.spec.mpiReplicaSpecs) || (has(self.spec.mpiReplicaSpecs['Worker'].restartPolicy) == has(oldSelf.spec.mpiReplicaSpecs['Worker'].restartPolicy) && (!has(self.spec.mpiReplicaSpecs['Worker'].restartPolicy) || self.spec.mpiReplicaSpecs['Worker'].restartPolicy == oldSelf.spec.mpiReplicaSpecs['Worker'].restartPolicy))",message="mpiJobTemplate is immutable, but for Worker.replicas"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.slotsPerWorker) || self.spec.slotsPerWorker >= 1",message="spec.slotsPerWorker must be at least 1"
// +kubebuilder:validation:XValidation:rule="!('Worker' in self.spec.mpiReplicaSpecs) || !has(self.spec.mpiReplicaSpecs['Worker'].replicas) || self.spec.mpiReplicaSpecs['Worker'].replicas >= 1",message="Worker.replicas must be at least 1: leave Worker out to run ranks in the launcher only"
// +kubebuilder:validation:XValidation:rule="!('Launcher' in self.spec.mpiReplicaSpecs) || !has(self.spec.mpiReplicaSpecs['Launcher'].replicas) || self.spec.mpiReplicaSpecs['Launcher'].replicas == 1",message="Launcher.replicas must be 1"
type MPIJobTemplate struct {
	// Metadata is added to the MPIJob. Example: the label of a queue.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`

	// Spec is the specification of a kubeflow.org/v2beta1 MPIJob; see
	// "kubectl explain mpijob.spec".
	// +required
	Spec mpiv2beta1.MPIJobSpec `json:"spec"`
}

// TemplateMetadata is the part of an object's metadata that a template can set.
type TemplateMetadata struct {
	// Labels of the MPIJob.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the MPIJob.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// RetryAnnotation on a TracedMPIJob that has ended without a report restarts it at the first failed
// step, each time the annotation's value changes. The new Jobs use the operator's current image.
const RetryAnnotation = "cairn.dev/retry"
