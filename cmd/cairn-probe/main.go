// Command cairn-probe is "cairn probe" and "cairn resolve" as a separate binary. "cairn install" copies it into the
// volume of each pod, as /cairn/cairn. It is a fifth of the size of the whole command, so it fits into smaller volumes
// and is copied faster.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/tracer/setup/commands"
)

// maxMemory is the soft memory limit of the Go runtime while it probes. The container's own limit is larger.
const maxMemory = 24 << 20

func main() {
	streams := commands.Streams{Out: os.Stdout, Err: os.Stderr}
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "resolve" {
		if err := commands.Resolve(args[1:], streams); err != nil {
			fmt.Fprintln(os.Stderr, "cairn:", err)
			os.Exit(messages.ExitInternal)
		}
		return
	}
	debug.SetMemoryLimit(maxMemory)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) > 0 && args[0] == "probe" { // as in "cairn probe"
		args = args[1:]
	}
	commands.Probe(ctx, args, streams)
}
