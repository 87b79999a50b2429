package hosts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A Slurm job that is queued again is another start of the same step of the same job.
func TestRequeuedJob(t *testing.T) {
	names := map[string]bool{}
	for _, name := range []string{
		"OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID", "PALS_RANKID", "FLUX_TASK_RANK", "SLURM_CLUSTER_NAME",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("SLURM_JOB_ID", "17")
	t.Setenv("SLURM_PROCID", "3")
	for _, step := range []string{"0", "1"} {
		for _, count := range []string{"", "1", "2"} {
			t.Setenv("SLURM_STEP_ID", step)
			t.Setenv("SLURM_RESTART_COUNT", count)
			require.Equal(t, 3, ThisTask().Rank)
			names[ThisTask().Job] = true
		}
	}
	require.Len(t, names, 6)
}
