package main

import (
	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/tracer/symbols"
)

func newResolveCommand() *cobra.Command {
	var executable, out string
	c := &cobra.Command{
		Use:   "resolve",
		Short: "Extract the function and line tables of a binary, for call sites",
		Args:  exactly(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := symbols.Resolve(executable, out)
			return err
		},
	}
	c.Flags().StringVar(&executable, "executable", "", "the binary")
	c.Flags().StringVar(&out, "out", "", "directory for <build-id>.json")
	_ = c.MarkFlagRequired("executable")
	_ = c.MarkFlagRequired("out")
	return c
}
