package localrun

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/internal/tracerflags"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// NewRunCommand returns the command `cairn run`.
func NewRunCommand() *cobra.Command {
	var (
		out     string
		replace bool
		tracing tracerflags.Flags
	)
	c := &cobra.Command{
		Use:   "run [-o DIR] [--verify] -- COMMAND…",
		Short: "Trace an MPI program and report what makes it slow",
		Long: `Run starts COMMAND, records every MPI call of every rank that it starts, merges the ranks' traces and analyzes
them. Ranks may be on other hosts, where COMMAND is mpirun, mpiexec, srun or "flux run" itself; otherwise see "cairn exec". It writes DIR/trace.cairn, DIR/clock.json and DIR/report/. For a command that starts several MPI jobs it
writes one folder for each: DIR/run-0-PROGRAM, DIR/run-1-PROGRAM, …. Without -o, DIR is cairn-out, or the first of cairn-out-2,
cairn-out-3, … that nothing else uses. With -o, a DIR that contains a run is refused before COMMAND is started; --force
replaces that run. So is a DIR that cannot be written to, or in which another run is in progress. The raw records, in DIR/tracer, are removed once all of them are in traces; otherwise it
says why they are kept.

SIGINT, SIGTERM, SIGHUP and SIGQUIT reach COMMAND, which then has 10 s to end. After that the trace is finished, analyzed
and reported like that of any failed run. A second signal kills COMMAND. A later one stops the analysis and keeps the
trace. Other signals are passed on to COMMAND, which gets each once, as without cairn; SIGCHLD, SIGPIPE, SIGPROF, SIGTSTP,
SIGTTIN, SIGTTOU, SIGURG, SIGXFSZ and 32 to 34 are not, unless they are sent to the process group.

It exits with the command's own code if that is not zero. Otherwise it exits with 128 plus the signal's number if a signal
cut the run or its analysis short, with 70 if tracing or --verify failed, and with 0 in all other cases.`,
		Example: `  cairn run -- mpirun -np 4 ./app
  cairn run -o out --verify -- mpirun -np 16 ./app --iterations 100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(errors.New("no command given: cairn run -- mpirun -np 4 ./app"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("output") && out == "" {
				return cli.UsageError(errors.New("-o is empty: name a directory"))
			}
			kept := tracing.Settings()
			if err := tracerflags.Check(&kept); err != nil {
				return cli.UsageError(err)
			}
			r := Run{Out: out, Replace: replace, Settings: kept, Command: args, Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr()}
			return r.Run(c.Context())
		},
	}
	// everything after the first argument belongs to the program, even without --
	c.Flags().SetInterspersed(false)
	c.Flags().StringVarP(&out, "output", "o", "", "directory for trace and report (default cairn-out, or cairn-out-2, … if that exists)")
	c.Flags().BoolVar(&replace, "force", false, "replace an earlier run in that directory")
	tracing = tracerflags.Register(c.Flags(), settings.Run)
	return c
}
