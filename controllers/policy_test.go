package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/cairn-mpi/cairn/controllers/task"
)

// The exit codes of a step mean the same to the Job controller as to the command.
func TestPodFailurePolicy(t *testing.T) {
	actions := func(t task.Task) map[int32]batchv1.PodFailurePolicyAction {
		of := map[int32]batchv1.PodFailurePolicyAction{}
		for _, rule := range task.PodFailurePolicy(t).Rules {
			if rule.OnExitCodes != nil {
				for _, code := range rule.OnExitCodes.Values {
					of[code] = rule.Action
				}
			}
		}
		return of
	}
	require.Equal(t, map[int32]batchv1.PodFailurePolicyAction{69: "Ignore", 77: "FailJob", 65: "FailIndex", 137: "FailIndex"}, actions(task.Task{Indexes: 3}))
	require.Equal(t, map[int32]batchv1.PodFailurePolicyAction{69: "Ignore", 77: "FailJob", 65: "FailJob", 137: "FailJob"}, actions(task.Task{}))
	require.NotContains(t, actions(task.Task{Impatient: true}), int32(69), "a check answers at once")

	s := newStage(t)
	s.apply()
	s.runToMerge(0)
	merge := s.batchJob("stencil-cairn-merge-l0")
	require.EqualValues(t, 2*24*60*60+300, *merge.Spec.ActiveDeadlineSeconds)
	require.EqualValues(t, 120, *s.batchJob(s.checkName()).Spec.ActiveDeadlineSeconds)
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	require.EqualValues(t, 24*60*60, *s.batchJob("stencil-cairn-clustering").Spec.ActiveDeadlineSeconds)
}
