package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

func TestTimingFlags(t *testing.T) {
	for _, test := range []struct {
		timing v1alpha1.Timing
		want   []string
	}{
		{v1alpha1.Timing{}, []string{"--timing", "lossy", "--timing-error", "5"}},
		{v1alpha1.Timing{Mode: v1alpha1.TimingLossless, ErrorPercent: ptr.To(int32(5))}, []string{"--timing", "lossless"}},
		{v1alpha1.Timing{Mode: v1alpha1.TimingAggregated, ErrorPercent: ptr.To(int32(5))}, []string{"--timing", "aggregated"}},
		{v1alpha1.Timing{Mode: v1alpha1.TimingLossy, ErrorPercent: ptr.To(int32(20)), Functions: []v1alpha1.FunctionTiming{{Name: "MPI_Barrier", ErrorPercent: 1}}},
			[]string{"--timing", "lossy", "--timing-error", "20", "--timing-error", "MPI_Barrier=1"}},
	} {
		require.Equal(t, test.want, timingFlags(&test.timing))
	}
}
