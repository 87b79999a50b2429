package pod

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/tracer/setup/commands"
)

// NewInstallCommand returns the command `cairn install`.
func NewInstallCommand() *cobra.Command {
	return neverFailing("install", "Copy the probe and the tracer's libraries into a volume; never fails", commands.Install)
}

// NewProbeCommand returns the command `cairn probe`.
func NewProbeCommand() *cobra.Command {
	return neverFailing("probe", "Examine the image it runs in and prepare the tracer for it; never fails", commands.Probe)
}

// neverFailing returns a command of an init container. It succeeds whatever its arguments are, so
// it parses them itself.
func neverFailing(name, short string, run func(context.Context, []string, commands.Streams)) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              short,
		DisableFlagParsing: true,
		Run: func(c *cobra.Command, args []string) {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			run(ctx, args, commands.Streams{Out: cli.Unchecked(c.OutOrStdout()), Err: c.ErrOrStderr()})
		},
	}
}
