package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/analyze"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/export"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/hosts"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/inspect"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/localrun"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/pod"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/replay"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/rewrite"
	"github.com/cairn-mpi/cairn/internal/version"
)

// Root returns the command cairn with all its commands. To add one, add a line here.
func Root() *cobra.Command {
	root := &cobra.Command{
		Use:           "cairn",
		Short:         "Trace an MPI job and see which rank, on which node, in which call, makes it slow",
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UsageError(fmt.Errorf("there is no command %q (see 'cairn --help')", args[0]))
			}
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return cli.UsageError(fmt.Errorf("%w (see '%s --help')", err, c.CommandPath()))
	})
	root.AddGroup(&cobra.Group{ID: peopleGroup, Title: "For people:"}, &cobra.Group{ID: podGroup, Title: "For the pods of a TracedMPIJob:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	// These take their own time to end after a signal.
	add(peopleGroup, cli.Profiled(
		localrun.NewRunCommand(),
		localrun.NewFinishCommand(),
		replay.NewReplayCommand(),
	)...)
	// These are parts of a job.
	add(peopleGroup, hosts.NewExecCommand(), hosts.NewCompressorCommand(), hosts.NewSendCommand())
	// These may run for long.
	add(peopleGroup, cli.Profiled(cli.Obey(
		analyze.NewAnalyzeCommand(),
		analyze.NewReportCommand(),
		export.NewExportCommand(),
		inspect.NewClustersCommand(),
		inspect.NewCompareCommand(),
		inspect.NewDumpCommand(),
		inspect.NewGraphCommand(),
		inspect.NewPlacementCommand(),
		inspect.NewPredictCommand(),
		inspect.NewProgramCommand(),
		inspect.NewScaleCommand(),
		replay.NewReplayFeedCommand(),
		rewrite.NewMergeCommand(),
		rewrite.NewRedactCommand(),
		rewrite.NewReduceCommand(),
		rewrite.NewSimulateCommand(),
		rewrite.NewSkeletonCommand(),
	)...)...)
	add(peopleGroup, cli.Obey(
		inspect.NewInfoCommand(),
		rewrite.NewCopyCommand(),
	)...)
	// These never fail: a user's pod runs them.
	add(podGroup,
		pod.NewInstallCommand(),
		pod.NewProbeCommand(),
		pod.NewShipCommand(),
	)
	add(podGroup, cli.Obey(
		pod.NewCheckStorageCommand(),
		pod.NewDeletePrefixCommand(),
		pod.NewFetchCommand(),
		pod.NewMakeBucketCommand(),
		pod.NewResolveCommand(),
		replay.NewReplayRankCommand(),
	)...)
	return root
}

const (
	peopleGroup = "people"
	podGroup    = "pod"
)
