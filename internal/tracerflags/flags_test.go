package tracerflags

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/settings"
)

// The probe reads from the operator's arguments what the operator meant.
func TestArgumentsMeanTheSettings(t *testing.T) {
	for _, s := range []settings.Settings{
		{Timing: "lossy 5", CallSites: "caller"},
		{Timing: "lossless", CallSites: "none", Pointers: true, StartOff: true, SpoolLimitBytes: 1 << 40},
		{Timing: "lossy 20 MPI_Barrier=1 MPI_Send=2", CallSites: "path", Include: "p2p,collective"},
		{Timing: "aggregated", CallSites: "caller", Exclude: "io", Mode: "clustered arguments=ignored frames=2 wait=30"},
		{Timing: "lossy 5", CallSites: "caller", Mode: "clustered"},
	} {
		flags := pflag.NewFlagSet("probe", pflag.ContinueOnError)
		all := Register(flags, settings.Probe)
		require.NoError(t, flags.Parse(settings.Arguments(s)))
		read := all.Settings()
		require.NoError(t, Check(&read))
		require.Equal(t, settings.Arguments(s), settings.Arguments(read))
		require.Equal(t, s.Timing+s.Mode+s.CallSites+s.Include+s.Exclude, read.Timing+read.Mode+read.CallSites+read.Include+read.Exclude)
	}
}

func TestCheck(t *testing.T) {
	good := settings.Settings{CallSites: "caller", Timing: "lossy", Mode: "full"}
	checked := good
	require.NoError(t, Check(&checked))
	require.Equal(t, settings.Settings{CallSites: "caller", Timing: "lossy 5"}, checked)
	for said, change := range map[string]func(s *settings.Settings){
		`--call-sites is none, caller, path, not "all"`: func(s *settings.Settings) { s.CallSites = "all" },
		"--include and --exclude do not go together":    func(s *settings.Settings) { s.Include, s.Exclude = "p2p", "io" },
		`"mail"`: func(s *settings.Settings) { s.Exclude = "io,mail" },
		`timing is lossy, lossless or aggregated, not "x"`: func(s *settings.Settings) { s.Timing = "x" },
		"the mode is full or clustered":                    func(s *settings.Settings) { s.Mode = "half" },
	} {
		s := good
		change(&s)
		require.ErrorContains(t, Check(&s), said)
	}
}
