package pod

import (
	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/tracer/resolver"
)

// NewResolveCommand returns the command that ship and run start for each binary that a rank sends.
func NewResolveCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "resolve",
		Short:              "Extract the function and line tables of a binary, for call sites",
		DisableFlagParsing: true,
		RunE:               func(c *cobra.Command, args []string) error { return resolver.Child(args, c.OutOrStdout()) },
	}
}
