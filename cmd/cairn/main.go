// Command cairn traces MPI programs and explains why they are slow. People use run, merge, analyze,
// dump, info, export and report. The pods of a TracedMPIJob use install, probe, ship and the --job
// forms. The command does not depend on Kubernetes.
package main

import (
	"os"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
)

func main() { os.Exit(commands.Run()) }
