package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Merge says how the traces of the pods are made into one.
type Merge struct {
	// FanIn is how many traces one step of the merge takes at most. A job with more
	// pods than that is merged in levels, each a Job whose pods work side by side; the
	// result is the same.
	// +optional
	// +kubebuilder:default:=256
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=65536
	FanIn *int32 `json:"fanIn,omitempty"`

	// PodTemplate of the merge, and of the short jobs that check storage, write the
	// report and delete the trace.
	// +optional
	PodTemplate ProcessingPodTemplate `json:"podTemplate,omitempty"`
}

// Analysis is something to compute from the trace.
type Analysis struct {
	// Name of an analysis, or of a set of them. Each is a Job; those of a set share
	// what they need of the trace.
	// +required
	Name AnalysisName `json:"name"`

	// PodTemplate of this analysis.
	// +optional
	PodTemplate ProcessingPodTemplate `json:"podTemplate,omitempty"`
}

// ProcessingPodTemplate is what can be chosen for a pod that works on traces.
type ProcessingPodTemplate struct {
	// Resources of the container. Retried with twice the memory when it ran out.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`

	// Metadata is added to that of the Job and of its pods, such as a queue's label.
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

	// ImagePullSecrets for Cairn's image, besides those of the job's launcher.
	// +optional
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}
