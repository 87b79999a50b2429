package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cairn-mpi/cairn/internal/passes"
)

// runProcess runs the command line of this process, and returns the exit code.
func runProcess() int {
	// SIGTERM ends a pod's commands in good order: what they hold is still written.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	root, out := newRootCommand(), &output{Writer: os.Stdout}
	root.SetOut(out)
	progress := newProgressMeter(os.Stderr)
	err := root.ExecuteContext(passes.Watch(ctx, progress))
	progress.stop()
	stop()
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	code, quiet := exitCode(err)
	if !quiet {
		fmt.Fprintln(os.Stderr, "cairn:", err)
	}
	return code
}
