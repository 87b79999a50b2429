package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Merge configures how the traces of the pods are merged.
type Merge struct {
	// FanIn is the maximum number of traces that one step of the merge reads. A job with more pods
	// is merged in levels. Each level is a Job with concurrent pods. The result is the same.
	// +optional
	// +kubebuilder:default:=256
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=65536
	FanIn *int32 `json:"fanIn,omitempty"`

	// PodTemplate is for the pods of the merge, and of the short jobs that check storage, write the
	// report and delete the trace.
	// +optional
	PodTemplate ProcessingPodTemplate `json:"podTemplate,omitempty"`
}

// Analysis is something that is computed from the trace.
type Analysis struct {
	// Name of an analysis, or of a set of analyses. Each is a Job. The analyses of a set share
	// their work.
	// +required
	Name AnalysisName `json:"name"`

	// PodTemplate is for the pods of this analysis.
	// +optional
	PodTemplate ProcessingPodTemplate `json:"podTemplate,omitempty"`
}

// ProcessingPodTemplate is what can be configured for a pod that processes traces.
type ProcessingPodTemplate struct {
	// Resources of the container. If it runs out of memory, it is retried with twice the memory.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// Metadata is added to that of the Job and of its pods. Example: the label of a queue.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`

	// PriorityClassName of the pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Affinity of the pod.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// NodeSelector of the pod.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations of the pod.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// ServiceAccountName of the pod. No token of it is mounted.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// ImagePullSecrets for Cairn's image, in addition to those of the job's launcher.
	// +optional
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}
