package controllers

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// timingFlags are the probe's, for a job that wants its times kept like this.
func timingFlags(t *v1alpha1.Timing) []string {
	switch t.Mode {
	case v1alpha1.TimingLossless, v1alpha1.TimingAggregated:
		return []string{"--timing", strings.ToLower(string(t.Mode))}
	}
	flags := []string{"--timing", "lossy", "--timing-error", fmt.Sprint(ptr.Deref(t.ErrorPercent, 5))}
	for _, f := range t.Functions {
		flags = append(flags, "--timing-error", fmt.Sprintf("%s=%d", f.Name, f.ErrorPercent))
	}
	return flags
}
