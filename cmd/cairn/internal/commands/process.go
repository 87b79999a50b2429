package commands

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// Run runs the command line of this process, and returns the exit code.
func Run() int {
	// SIGTERM ends the commands of a pod in good order: buffered data is still written.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	root, out := Root(), &cli.Output{Writer: os.Stdout}
	root.SetOut(out)
	progress := cli.NewProgressMeter(os.Stderr)
	err := root.ExecuteContext(passes.Watch(ctx, progress))
	progress.Stop()
	stop()
	if err == nil {
		err = out.Err
	}
	if err == nil {
		return 0
	}
	code, quiet := cli.ExitCode(err)
	if !quiet {
		fmt.Fprintln(os.Stderr, "cairn:", err)
	}
	return code
}
