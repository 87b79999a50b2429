package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
)

// Everything in a pod template is applied to the pod, and the API server accepts the result.
func TestPodTemplate(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) {
		j.Spec.Merge.PodTemplate = v1alpha1.ProcessingPodTemplate{
			Metadata: v1alpha1.TemplateMetadata{
				Labels:      map[string]string{"kueue.x-k8s.io/queue-name": "small", naming.JobLabel: "another", naming.StepLabel: "another"},
				Annotations: map[string]string{"team": "a", "linkerd.io/inject": "enabled"},
			},
			PriorityClassName: "system-node-critical",
			Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "tracing", Operator: corev1.NodeSelectorOpExists}}}}}}},
		}
	})
	s.runToMerge(0)
	for _, name := range []string{s.checkName(), "stencil-cairn-merge-l0"} {
		job := s.batchJob(name)
		require.Equal(t, "small", job.Labels["kueue.x-k8s.io/queue-name"], name)
		require.Equal(t, "a", job.Annotations["team"])
		require.NotEqual(t, "another", job.Labels[naming.JobLabel], "by this label Cairn knows its own")
		require.NotEqual(t, "another", job.Labels[naming.StepLabel])
		template := job.Spec.Template
		require.Equal(t, "small", template.Labels["kueue.x-k8s.io/queue-name"])
		require.NotEqual(t, "another", template.Labels[naming.JobLabel])
		require.Equal(t, "false", template.Labels["sidecar.istio.io/inject"])
		require.Equal(t, "false", template.Annotations["sidecar.istio.io/inject"])
		require.Equal(t, "enabled", template.Annotations["linkerd.io/inject"], "the template may ask for a proxy")
		require.Equal(t, "system-node-critical", template.Spec.PriorityClassName)
		require.Equal(t, "tracing", template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Key)
	}
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	plain := s.batchJob("stencil-cairn-clustering").Spec.Template
	require.Equal(t, "disabled", plain.Annotations["linkerd.io/inject"])
	require.Empty(t, plain.Spec.PriorityClassName)
}
