// Package tracerflags has the flags that say how the tracer records, for the commands that write its configuration:
// cairn run on one machine, the probe in a pod.
package tracerflags

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
)

// Timing says how exactly times are kept.
type Timing struct {
	mode   string
	errors []string
}

// Register adds the flags.
func (t *Timing) Register(flags *pflag.FlagSet) {
	flags.StringVar(&t.mode, "timing", string(timing.Lossy), "lossy: gaps and durations within an error; lossless: every time stamp; aggregated: statistics for each kind of call")
	flags.StringSliceVar(&t.errors, "timing-error", nil, "with --timing lossy: the error in per cent, 1 to 50 (default 5), for all functions or, as MPI_Barrier=1, for one")
}

// Settings are the flags as the tracer's configuration has them.
func (t *Timing) Settings() (string, error) {
	settings, err := timing.ParseSettings(t.mode + " " + strings.Join(t.errors, " "))
	if err != nil {
		return "", err
	}
	return settings.Text(), nil
}

// Mode says whether every rank is recorded by itself.
type Mode struct {
	mode       string
	clustering []string
}

// Register adds the flags.
func (m *Mode) Register(flags *pflag.FlagSet) {
	flags.StringVar(&m.mode, "mode", "full", "full: the times of every rank's calls; clustered: of one rank for each behaviour, as long as that does not change. All ranks of the job must be traced")
	flags.StringSliceVar(&m.clustering, "clustering", nil, "with --mode clustered: arguments=ignored (calls have changed only if functions or places have), frames=N (of a call path, the N outermost may differ), wait=SECONDS (for the other ranks at a marker, default 60)")
}

// Settings are the flags as the tracer's configuration has them.
func (m *Mode) Settings() (string, error) {
	settings, err := online.ParseMode(m.mode + " " + strings.Join(m.clustering, " "))
	if err != nil {
		return "", err
	}
	if !settings.Clustered {
		return "", nil
	}
	return settings.String(), nil
}

// Control says what is recorded.
type Control struct {
	Include, Exclude []string // groups of functions
	StartOff         bool
}

// Register adds the flags.
func (c *Control) Register(flags *pflag.FlagSet) {
	var names []string
	for _, g := range mpi.Groups {
		names = append(names, string(g))
	}
	groups := " (" + strings.Join(names, ", ") + ")"
	flags.StringSliceVar(&c.Include, "include", nil, "record only these groups of functions"+groups)
	flags.StringSliceVar(&c.Exclude, "exclude", nil, "leave these groups out; calls that give or end a handle are recorded all the same")
	flags.BoolVar(&c.StartOff, "start-off", false, "record nothing but the lives of handles until the program calls MPI_Pcontrol(1)")
}

// Check refuses names that no group has.
func (c *Control) Check() error {
	if len(c.Include) > 0 && len(c.Exclude) > 0 {
		return errors.New("--include and --exclude do not go together")
	}
	for _, list := range [][]string{c.Include, c.Exclude} {
		if _, err := mpi.ParseGroups(list); err != nil {
			return err
		}
	}
	return nil
}
