// Command cairn traces MPI programs and says why they are slow: run, merge, analyze, dump, info, export and report for
// people; install, probe, ship and the --job forms for the pods of a TracedMPIJob. It knows nothing of Kubernetes.
package main

import (
	"os"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
)

func main() { os.Exit(commands.Run()) }
