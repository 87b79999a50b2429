// Command cairn-probe is "cairn probe" in a separate binary. "cairn install" copies it into the
// volume of each pod as /cairn/cairn. It has a fifth of the size of the whole command, so that it
// fits into small volumes and is copied faster.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/cairn-mpi/cairn/tracer/setup/commands"
)

// maxMemory is the memory limit of the Go runtime during a probe. The container's own limit is
// larger.
const maxMemory = 24 << 20

func main() {
	streams := commands.Streams{Out: os.Stdout, Err: os.Stderr}
	args := os.Args[1:]
	debug.SetMemoryLimit(maxMemory)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) > 0 && args[0] == "probe" { // as in "cairn probe"
		args = args[1:]
	}
	commands.Probe(ctx, args, streams)
}
