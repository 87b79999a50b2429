// Command cairn traces MPI programs and explains why they are slow. People use run, merge, analyze,
// dump, info, export and report. The pods of a TracedMPIJob use install, probe, ship and the --job
// forms. The command does not depend on Kubernetes.
package main

import (
	"os"
	"runtime"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
)

// The thread that executes a program gives it what belongs to a thread, such as a signal at the
// launcher's end. That is the first one.
func init() {
	if len(os.Args) > 1 && os.Args[1] == "exec" {
		runtime.LockOSThread()
	}
}

func main() { os.Exit(commands.Run()) }
