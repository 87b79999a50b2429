package main

import (
	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/tracer/setup"
)

func newInstallCommand() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "install",
		Short: "Copy this binary and the tracer's libraries into a volume",
		Args:  exactly(0),
		RunE: func(*cobra.Command, []string) error {
			return setup.Install(setup.InstallOptions{To: to})
		},
	}
	c.Flags().StringVar(&to, "to", "/cairn", "where the volume is mounted")
	return c
}
