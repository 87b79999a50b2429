package replay

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/reexecution"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// NewReplayRankCommand returns the command that mpirun starts instead of a program in the pods of a
// job with spec.replay. The launcher there is the user's. The command becomes the replayer for the
// MPI that started it.
func NewReplayRankCommand() *cobra.Command {
	var (
		r      replay
		memory string
	)
	c := &cobra.Command{
		Use:   "replay-rank FILE",
		Short: "Become one process of a re-execution; mpirun starts it",
		Args:  cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.set("recorded", memory); err != nil {
				return cli.UsageError(err)
			}
			r.file, r.stdout, r.stderr = args[0], c.OutOrStdout(), c.ErrOrStderr()
			var rank int
			var err error
			if r.mpi, rank, err = startedBy(os.Getenv); err != nil {
				return err
			}
			return r.become(c, rank)
		},
	}
	c.Flags().StringVar(&r.compute, "compute", "busy", "busy or sleep")
	c.Flags().Var(cli.Within(&r.scale, 1, 0, 1e6), "compute-scale", "factor of the computation time")
	c.Flags().StringVar(&memory, "memory", "1GiB", "maximum memory for the buffers and windows of the rank")
	return c
}

// startedBy reads from the environment which MPI's launcher started this process, and as which
// rank.
func startedBy(getenv func(string) string) (setup.ABI, int, error) {
	for _, mpi := range []struct {
		abi      setup.ABI
		variable string
	}{{setup.OpenMPI, "OMPI_COMM_WORLD_RANK"}, {setup.MPICH, "PMI_RANK"}} {
		if value := getenv(mpi.variable); value != "" {
			rank, err := strconv.Atoi(value)
			if err != nil {
				return "", 0, fmt.Errorf("%s is %q, not a rank", mpi.variable, value)
			}
			return mpi.abi, rank, nil
		}
	}
	return "", 0, errors.New("neither OMPI_COMM_WORLD_RANK nor PMI_RANK is set: mpirun of Open MPI or MPICH must start this command")
}

// become replaces this process by the replayer. Messages about the whole run are printed by rank 0
// only.
func (r *replay) become(c *cobra.Command, rank int) error {
	f, err := tracefile.Open(c.Context(), r.file, storage.Flags{})
	if err != nil {
		return err
	}
	defer f.Close()
	t := timeline.Of(f.Reader)
	program, err := r.program(r.mpi)
	if err != nil {
		return err
	}
	target, err := targetOf(c.Context(), program)
	if err != nil {
		return err
	}
	if refusals := reexecution.Refusals(t, target); len(refusals) > 0 {
		cause := r.refused(refusals)
		if rank != 0 {
			cause = nil // rank 0 prints it, too
		}
		return cli.StatusError(cli.ExitBadData, cause)
	}
	if rank == 0 {
		r.note(t)
	}
	scratch, err := os.MkdirTemp("", "cairn-replay-")
	if err != nil {
		return err
	}
	arguments, err := r.arguments(t, scratch, 0)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", program, syscall.Exec(program, append([]string{program}, arguments...), os.Environ()))
}
