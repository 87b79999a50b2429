package localrun

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiagnosis(t *testing.T) {
	require.Contains(t, whyNothingWasTraced([]string{"true"}), "not linked to an MPI library")
	require.Contains(t, whyNothingWasTraced([]string{"no-such-command"}), "no process called MPI_Init under the tracer")
}
