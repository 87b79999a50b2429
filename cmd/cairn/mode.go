package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// modeFlags say whether every rank is recorded by itself.
type modeFlags struct {
	mode       string
	clustering []string
}

func (m *modeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&m.mode, "mode", "full", "full: the times of every rank's calls; clustered: of one rank for each behaviour, as long as that does not change. All ranks of the job must be traced")
	flags.StringSliceVar(&m.clustering, "clustering", nil, "with --mode clustered: arguments=ignored (calls have changed only if functions or places have), frames=N (of a call path, the N outermost may differ), wait=SECONDS (for the other ranks at a marker, default 60)")
}

// settings are the flags as the tracer's configuration has them.
func (m *modeFlags) settings() (string, error) {
	settings, err := recorder.ParseMode(m.mode + " " + strings.Join(m.clustering, " "))
	if err != nil {
		return "", usageError{err}
	}
	if !settings.Clustered {
		return "", nil
	}
	return settings.String(), nil
}
