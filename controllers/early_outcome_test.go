package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/controllers/task"
)

// Once a pod has succeeded for each index, the outcome is known, some seconds before the Job
// controller reports it.
func TestOutcomeIsKnownBeforeTheJobControllerReportsIt(t *testing.T) {
	s := newStage(t)
	s.apply()
	s.settle()
	check := s.batchJob(s.checkName())
	made := s.podOf(check, 0)
	require.NoError(t, s.Create(s.ctx, made))
	s.containerEnds(made, pod{message: storageWorks})
	require.Nil(t, task.TerminalCondition(s.batchJob(s.checkName())))
	s.settle()
	s.expect("StorageReady", isTrue, "Writable")

	s.worker(0, traceable)
	s.finishLauncher(0)
	s.settle()
	s.ends("stencil-cairn-merge-l0", pod{message: oneRun})
	s.settle()
	for _, name := range []string{"critical-path", "clustering"} {
		s.expect("Analyzed", unknown, "Analyzing")
		made := s.podOf(s.batchJob("stencil-cairn-"+name), 0)
		require.NoError(t, s.Create(s.ctx, made))
		s.containerEnds(made, pod{message: `{"ok":true}`})
		s.settle()
	}
	s.expect("Analyzed", isTrue, "AllSucceeded")
}
