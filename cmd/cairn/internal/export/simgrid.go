package export

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/analyzer/export/simgrid"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
)

// simgridNetwork has the values of the format's flags.
var simgridNetwork simgrid.Options

var simgridExporter = exporter{
	format: "simgrid",
	about: `simgrid: a folder for SimGrid 3.32 (Debian: libsimgrid-dev), which replays the run on a simulated network: the actions
of each rank, a platform with the trace's hosts, and the other files that 'smpirun -replay' needs. The network is as
measured in the run, or as set with --latency and --bandwidth. What SimGrid cannot replay is left out and counted.`,
	needs: "a simulation",
	flags: func(f *pflag.FlagSet) {
		simgridNetwork = simgrid.Options{}
		f.Var(cli.AtLeast(&simgridNetwork.Latency, 0, 0), "latency", "simgrid: latency of a message (0: as measured in the run)")
		f.Var(cli.Within(&simgridNetwork.Bandwidth, 0, 0, 1e9), "bandwidth", "simgrid: bandwidth, in GB/s (0: as measured in the run)")
	},
	write: exportSimGrid,
}

func exportSimGrid(ctx context.Context, r exportRequest) (string, error) {
	if r.Part {
		return "", cli.UsageError(errors.New("--format simgrid: SimGrid replays whole runs, without --from, --to, --ranks and --leads"))
	}
	o := simgridNetwork
	o.Clock = r.Clock
	s, err := simgrid.Write(ctx, r.Out, r.Trace, o)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	shown := ""
	if s.Measured {
		shown = ", as measured in the run"
	}
	fmt.Fprintf(&b, "%d ranks, %d actions, %d messages; network: %.3g µs, %.3g GB/s%s\n", s.Ranks, s.Actions, s.Messages,
		s.Network.Latency/1e3, s.Network.Bandwidth, shown)
	if r.Extrapolated != "" {
		fmt.Fprintln(&b, r.Extrapolated)
	}
	for _, o := range s.AsMessages {
		fmt.Fprintf(&b, "written as messages: %d calls of %s\n", o.Count, o.What)
	}
	for _, o := range s.LeftOut {
		fmt.Fprintf(&b, "left out: %d %s\n", o.Count, o.What)
	}
	fmt.Fprintf(&b, "cd %s && smpirun -np %d -platform platform.xml -hostfile hostfile -replay traces.txt", r.Out, s.Ranks)
	return b.String(), nil
}
