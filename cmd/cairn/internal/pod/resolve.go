package pod

import (
	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/tracer/setup/commands"
)

// NewResolveCommand returns the command that a rank starts. In a pod it is part of cairn-probe,
// which parses the same arguments.
func NewResolveCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "resolve",
		Short:              "Extract the function and line tables of a binary, for call sites",
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			err := commands.Resolve(args, commands.Streams{Out: c.OutOrStdout(), Err: c.ErrOrStderr()})
			if commands.IsUsage(err) {
				return cli.UsageError(err)
			}
			return err
		},
	}
}
