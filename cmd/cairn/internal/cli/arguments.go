package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// Exactly accepts exactly n positional arguments.
func Exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return UsageError(fmt.Errorf("%s, not %d: %s (see '%s --help')", wording.Count(len(args), "argument is given", "arguments are given"), n, c.UseLine(), c.CommandPath()))
		}
		return nil
	}
}
