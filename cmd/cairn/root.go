package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/internal/version"
)

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "cairn",
		Short:         "Trace an MPI job and see which rank, on which node, in which call, makes it slow",
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(fmt.Errorf("there is no command %q (see 'cairn --help')", args[0]))
			}
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError(fmt.Errorf("%w (see '%s --help')", err, c.CommandPath()))
	})
	root.AddGroup(&cobra.Group{ID: peopleGroup, Title: "For people:"}, &cobra.Group{ID: podGroup, Title: "For the pods of a TracedMPIJob:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(peopleGroup, profiled(newRunCommand(), newReplayCommand())...)
	add(peopleGroup, profiled(obey(newDumpCommand(), newProgramCommand(), newSkeletonCommand(), newClustersCommand(), newReduceCommand(),
		newRedactCommand(), newPlacementCommand(), newGraphCommand(), newMergeCommand(), newAnalyzeCommand(), newReportCommand(),
		newPredictCommand(), newScaleCommand(), newCompareCommand(), newExportCommand(), newSimulateCommand())...)...)
	add(peopleGroup, profiled(obey(newReplayFeedCommand())...)...)
	add(peopleGroup, obey(newInfoCommand(), newCopyCommand())...)
	add(podGroup, newShipCommand(), newInstallCommand(), newProbeCommand())
	add(podGroup, obey(newCheckStorageCommand(), newMakeBucketCommand(), newFetchCommand(), newReplayRankCommand(),
		newDeletePrefixCommand(), newResolveCommand())...)
	return root
}

const (
	peopleGroup = "people"
	podGroup    = "pod"
)
