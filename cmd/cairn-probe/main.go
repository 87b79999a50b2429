// Command cairn-probe is "cairn probe" and "cairn resolve" in a binary of their own. It is what "cairn install" copies
// into the volume of each pod, as /cairn/cairn: a fifth of the whole command, so it fits where that does not, and is
// there sooner.
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

// maxMemory is what the Go runtime keeps to while it probes. The container's own limit is larger.
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
