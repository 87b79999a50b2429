package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// What a pod of ours may be given, it is given, and the API server takes it.
func TestPodTemplate(t *testing.T) {
	s := newStage(t)
	s.apply(func(j *v1alpha1.TracedMPIJob) {
		j.Spec.Merge.PodTemplate = v1alpha1.ProcessingPodTemplate{
			Metadata: v1alpha1.TemplateMetadata{
				Labels:      map[string]string{"kueue.x-k8s.io/queue-name": "small", JobLabel: "another", StepLabel: "another"},
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
		require.NotEqual(t, "another", job.Labels[JobLabel], "by this label Cairn knows its own")
		require.NotEqual(t, "another", job.Labels[StepLabel])
		template := job.Spec.Template
		require.Equal(t, "small", template.Labels["kueue.x-k8s.io/queue-name"])
		require.NotEqual(t, "another", template.Labels[JobLabel])
		require.Equal(t, "false", template.Labels["sidecar.istio.io/inject"])
		require.Equal(t, "false", template.Annotations["sidecar.istio.io/inject"])
		require.Equal(t, "enabled", template.Annotations["linkerd.io/inject"], "the template may ask for a proxy")
		require.Equal(t, "system-node-critical", template.Spec.PriorityClassName)
		require.Equal(t, "tracing", template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Key)
	}
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	plain := s.batchJob("stencil-cairn-clusters").Spec.Template
	require.Equal(t, "disabled", plain.Annotations["linkerd.io/inject"])
	require.Empty(t, plain.Spec.PriorityClassName)
}

// The exit codes of a step mean the same to the Job controller as to the command.
func TestPodFailurePolicy(t *testing.T) {
	actions := func(t task) map[int32]batchv1.PodFailurePolicyAction {
		of := map[int32]batchv1.PodFailurePolicyAction{}
		for _, rule := range podFailurePolicy(t).Rules {
			if rule.OnExitCodes != nil {
				for _, code := range rule.OnExitCodes.Values {
					of[code] = rule.Action
				}
			}
		}
		return of
	}
	require.Equal(t, map[int32]batchv1.PodFailurePolicyAction{69: "Ignore", 77: "FailJob", 65: "FailIndex", 137: "FailIndex"}, actions(task{indexes: 3}))
	require.Equal(t, map[int32]batchv1.PodFailurePolicyAction{69: "Ignore", 77: "FailJob", 65: "FailJob", 137: "FailJob"}, actions(task{}))
	require.NotContains(t, actions(task{impatient: true}), int32(69), "a check answers at once")

	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	merge := s.batchJob("stencil-cairn-merge-l0")
	require.EqualValues(t, 2*24*60*60+300, *merge.Spec.ActiveDeadlineSeconds)
	require.EqualValues(t, 120, *s.batchJob(s.checkName()).Spec.ActiveDeadlineSeconds)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	require.EqualValues(t, 24*60*60, *s.batchJob("stencil-cairn-clusters").Spec.ActiveDeadlineSeconds)
}
