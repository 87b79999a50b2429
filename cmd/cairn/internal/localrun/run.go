package localrun

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/internal/tracerflags"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// NewRunCommand is `cairn run`.
func NewRunCommand() *cobra.Command {
	var (
		out       string
		replace   bool
		verify    bool
		callSites string
		control   tracerflags.Control
		pointers  bool
		timing    tracerflags.Timing
		mode      tracerflags.Mode
	)
	c := &cobra.Command{
		Use:   "run [-o DIR] [--verify] -- COMMAND…",
		Short: "Trace an MPI program on this machine and say what makes it slow",
		Long: `Run starts COMMAND, records every MPI call of every rank that it starts on this machine, merges the ranks' traces
and analyzes them. It leaves DIR/trace.cairn, DIR/clock.json and DIR/report/; a command that starts several MPI worlds leaves one
folder each, DIR/run-0, DIR/run-1, …. Without -o DIR is cairn-out, or the first of cairn-out-2, cairn-out-3, … that has no
run in it. With -o, a DIR that has one is refused before COMMAND is started; --force replaces that run.

SIGINT, SIGTERM, SIGHUP and SIGQUIT reach COMMAND. When it has ended, for which it has 10 s, the trace is finished, analyzed
and reported as that of any run that failed. A second signal kills COMMAND; one that comes later ends the analysis and
keeps the trace.

It exits with the command's own code if that is not zero; else with 128 and the signal's number if a signal cut the run or
its analysis short, with 70 if tracing or --verify failed, and with 0.`,
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
				return cli.UsageError(errors.New("-o \"\": where to?"))
			}
			if !slices.Contains(setup.CallSites, callSites) {
				return cli.UsageError(fmt.Errorf("--call-sites is %s, not %q", strings.Join(setup.CallSites, ", "), callSites))
			}
			if err := control.Check(); err != nil {
				return cli.UsageError(err)
			}
			kept, err := timing.Settings()
			if err != nil {
				return cli.UsageError(err)
			}
			clustered, err := mode.Settings()
			if err != nil {
				return cli.UsageError(err)
			}
			r := Run{timing: kept, mode: clustered, Out: out, Replace: replace, verify: verify, CallSites: callSites, pointers: pointers, include: control.Include, exclude: control.Exclude, startOff: control.StartOff, Command: args, Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr()}
			return r.Run(c.Context())
		},
	}
	// what follows the first argument is the program's, also without --
	c.Flags().SetInterspersed(false)
	c.Flags().StringVarP(&out, "output", "o", "", "directory for trace and report (default cairn-out, or cairn-out-2, … where there is one)")
	c.Flags().BoolVar(&replace, "force", false, "replace an earlier run in that directory")
	c.Flags().BoolVar(&verify, "verify", false, "write an independent log of every call, and compare the decoded trace with it")
	timing.Register(c.Flags())
	mode.Register(c.Flags())
	c.Flags().StringVar(&callSites, "call-sites", "caller", "caller: keep where each call was made; path: and from where that was called; none: neither")
	c.Flags().BoolVar(&pointers, "pointers", false, "keep what memory pointers lead to (heap, stack, static data, devices); every allocation takes a little longer")
	control.Register(c.Flags())
	return c
}
