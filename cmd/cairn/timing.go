package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/trace"
)

// timingFlags say how exactly times are kept.
type timingFlags struct {
	mode   string
	errors []string
}

func (t *timingFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&t.mode, "timing", string(trace.TimingLossy), "lossy: gaps and durations within an error; lossless: every time stamp; aggregated: statistics for each kind of call")
	flags.StringSliceVar(&t.errors, "timing-error", nil, "with --timing lossy: the error in per cent, 1 to 50 (default 5), for all functions or, as MPI_Barrier=1, for one")
}

// settings are the flags as the tracer's configuration has them.
func (t *timingFlags) settings() (string, error) {
	settings, err := trace.ParseTimingSettings(t.mode + " " + strings.Join(t.errors, " "))
	if err != nil {
		return "", usageError{err}
	}
	return settings.Text(), nil
}
