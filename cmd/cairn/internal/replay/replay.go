package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/reexecution"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/localrun"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/tracer/settings"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// NewReplayCommand returns the command `cairn replay`.
func NewReplayCommand() *cobra.Command {
	var (
		r              replay
		speed, memory  string
		check, replace bool
		out            string
	)
	c := &cobra.Command{
		Use:   "replay FILE [flags] -- LAUNCHER…",
		Short: "Execute the MPI calls of a run again: a benchmark of its communication on another machine or MPI",
		Long: `Replay executes the MPI calls of a recorded run again. LAUNCHER (mpirun with its options, without a program) starts as
many processes as the run had ranks. Each process makes the calls of its rank with the same arguments, and computes
between them for as long as the rank did. The program and its data are not needed: messages contain zeros, and the
program's own operations and callbacks do nothing. Receives with wildcards take the same message as in the run, and
polling loops wait. Files that MPI reads and writes are in a separate folder (--scratch).

At the end it prints how long that took, from when all processes had left MPI_Init until the last one entered
MPI_Finalize, and how long the run took.

A run that cannot be executed again is refused before anything starts, with the names of the functions that prevent it.
A run with an incomplete trace is refused, too. The MPI may differ from that of the run: LAUNCHER determines it (or
--mpi, if LAUNCHER does not report it).

It exits with LAUNCHER's own code if that is not zero, and with 65 if the run is refused or --check finds a difference.`,
		Example: `  cairn replay out/trace.cairn -- mpirun -np 4
  cairn replay out/trace.cairn --speed max -- mpirun -np 4        # nothing but the communication
  cairn replay out/trace.cairn --compute sleep --compute-scale 0.5 -- mpirun.mpich -np 4
  cairn replay out/trace.cairn --check -- mpirun -np 4            # trace it, and compare call by call`,
		Args: func(c *cobra.Command, args []string) error {
			if dash := c.ArgsLenAtDash(); dash != 1 || len(args) < 2 {
				return cli.UsageError(errors.New("a trace and a launcher are expected: cairn replay trace.cairn -- mpirun -np 4"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.set(speed, memory); err != nil {
				return cli.UsageError(err)
			}
			if out != "" && !check {
				return cli.UsageError(errors.New("-o needs --check: it is the directory for the trace of the re-execution"))
			}
			r.file, r.launcher = args[0], args[1:]
			r.stdout, r.stderr = c.OutOrStdout(), c.ErrOrStderr()
			if check {
				return r.check(c.Context(), out, replace)
			}
			return r.run(c.Context())
		},
	}
	c.Flags().StringVar(&r.compute, "compute", "busy", "how computation is executed. busy: the thread uses the same CPU time; sleep: it sleeps")
	c.Flags().Var(cli.Within(&r.scale, 1, 0, 1e6), "compute-scale", "factor of the computation time")
	c.Flags().StringVar(&speed, "speed", "recorded", "recorded, or max: without computation")
	c.Flags().StringVar(&memory, "memory", "1GiB", "maximum memory for the buffers and windows of a rank")
	c.Flags().StringVar(&r.scratch, "scratch", "", "folder for files that MPI reads and writes, which all ranks must see (default: a temporary one)")
	c.Flags().StringVar(&r.mpi, "mpi", "", "openmpi or mpich: the MPI that LAUNCHER belongs to (default: as LAUNCHER reports, else that of the run)")
	c.Flags().BoolVar(&check, "check", false, "trace the re-execution, and compare its calls with those of the run")
	c.Flags().StringVarP(&out, "output", "o", "", "with --check: directory for the trace of the re-execution (default: a temporary one)")
	c.Flags().BoolVar(&replace, "force", false, "replace an earlier run in that directory")
	return c
}

// A replay is one `cairn replay`.
type replay struct {
	file           string
	launcher       []string
	compute        string
	scale          float64
	memory         int64
	scratch        string // "": use a temporary folder
	mpi            setup.ABI
	stdout, stderr io.Writer
}

// set parses the flags that are given as words.
func (r *replay) set(speed, memory string) error {
	if r.compute != "busy" && r.compute != "sleep" {
		return fmt.Errorf("--compute is busy or sleep, not %q", r.compute)
	}
	switch speed {
	case "recorded":
	case "max":
		r.compute = "none"
	default:
		return fmt.Errorf("--speed is recorded or max, not %q", speed)
	}
	if r.mpi != "" && r.mpi != setup.OpenMPI && r.mpi != setup.MPICH {
		return fmt.Errorf("--mpi is %s or %s, not %q", setup.OpenMPI, setup.MPICH, r.mpi)
	}
	bytes, err := humanize.ParseBytes(memory)
	if err != nil || bytes < 1<<12 || bytes > 1<<50 {
		return fmt.Errorf("--memory is a number of bytes, KiB, MiB or GiB, such as 512MiB, not %q", memory)
	}
	r.memory = int64(bytes)
	return nil
}

// run executes the recorded calls again.
func (r *replay) run(ctx context.Context) error {
	command, remove, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	defer remove()
	signals := launch.CatchEndSignals()
	defer signals.Stop()
	job := launch.Job{Command: command, Environment: os.Environ(), Signals: signals, Say: r.say}
	code, err := job.Run()
	if err != nil {
		return err
	}
	return launch.StatusOf(code, true)
}

// check executes the recorded calls again under the tracer, and compares.
func (r *replay) check(ctx context.Context, out string, replace bool) error {
	command, remove, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	defer remove()
	if out == "" {
		if out, err = os.MkdirTemp("", "cairn-replay-"); err != nil {
			return err
		}
		defer os.RemoveAll(out)
	}
	again := localrun.Run{Out: out, Replace: replace, Settings: settings.Settings{CallSites: "none"}, Command: command, Stdout: io.Discard, Stderr: r.stderr}
	if err := again.Run(ctx); err != nil {
		return err
	}
	f, err := tracefile.Open(ctx, r.file, storage.Flags{})
	if err != nil {
		return err
	}
	defer f.Close()
	second := filepath.Join(out, collect.TraceFile)
	g, err := tracefile.Open(ctx, second, storage.Flags{})
	if err != nil {
		return err
	}
	defer g.Close()
	calls, differences, err := reexecution.Compare(ctx, timeline.Of(f.Reader), timeline.Of(g.Reader))
	if err != nil {
		return tracefile.Damaged(r.file, err)
	}
	for _, d := range differences {
		fmt.Fprintln(r.stdout, d)
	}
	if len(differences) > 0 {
		return cli.StatusError(cli.ExitBadData, errors.New("the re-execution made other calls than the run"))
	}
	fmt.Fprintf(r.stdout, "The re-execution made the same %d calls as the run.\n", calls)
	return nil
}

// prepare refuses a run that cannot be executed again. Otherwise it returns the command that
// executes it, and a function that removes its temporary folder.
func (r *replay) prepare(ctx context.Context) (command []string, remove func(), err error) {
	if store.IsRemote(r.file) {
		return nil, nil, cli.UsageError(fmt.Errorf("%s: every rank reads the trace: copy it to a folder that all of them see", r.file))
	}
	if err := launch.CheckCommand(r.launcher[0]); err != nil {
		return nil, nil, err
	}
	f, err := tracefile.Open(ctx, r.file, storage.Flags{})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	t := timeline.Of(f.Reader)
	program, err := r.program(t.Meta().ABI)
	if err != nil {
		return nil, nil, err
	}
	target, err := targetOf(ctx, program)
	if err != nil {
		return nil, nil, err
	}
	if refusals := reexecution.Refusals(t, target); len(refusals) > 0 {
		return nil, nil, cli.StatusError(cli.ExitBadData, r.refused(refusals))
	}
	r.note(t)
	recorded, err := r.recorded(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	scratch, remove, err := r.scratchFolder()
	if err != nil {
		return nil, nil, err
	}
	arguments, err := r.arguments(t, scratch, recorded)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return slices.Concat(r.launcher, []string{program}, arguments), remove, nil
}

// refused returns an error that names what keeps the run from being executed again.
func (r *replay) refused(refusals []reexecution.Refusal) error {
	var lines strings.Builder
	for _, refusal := range refusals {
		lines.WriteString("\n  " + refusal.String())
	}
	return fmt.Errorf("%s cannot be executed again:%s", r.file, lines.String())
}

// arguments returns those of the replayer. recorded is the duration of the run in seconds, or 0 if
// it is not known.
func (r *replay) arguments(t timeline.Trace, scratch string, recorded float64) ([]string, error) {
	file, err := filepath.Abs(r.file)
	if err != nil {
		return nil, err
	}
	feeder, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return []string{
		"--feeder", feeder, "--scratch", scratch, "--compute", r.compute, "--scale", strconv.FormatFloat(r.scale, 'g', -1, 64),
		"--memory", strconv.FormatInt(r.memory, 10), "--ranks", strconv.Itoa(t.Meta().WorldSize),
		"--threads", strconv.Itoa(maxThreads(t)), "--recorded", strconv.FormatFloat(recorded, 'f', 9, 64), file,
	}, nil
}

// scratchFolder returns the folder for files that MPI calls open.
func (r *replay) scratchFolder() (folder string, remove func(), err error) {
	if r.scratch != "" {
		folder, err = filepath.Abs(r.scratch)
		if err == nil {
			err = os.MkdirAll(folder, 0o755)
		}
		return folder, func() {}, err
	}
	folder, err = os.MkdirTemp("", "cairn-replay-")
	return folder, func() { _ = os.RemoveAll(folder) }, err
}

// note prints in what respects the re-execution differs from the run.
func (r *replay) note(t timeline.Trace) {
	for _, note := range reexecution.Notes(t) {
		r.say("%s", note)
	}
}

// maxThreads returns the largest number of threads of a rank.
func maxThreads(t timeline.Trace) int {
	most, n, last := 1, 0, -1
	for _, l := range timeline.Locations(t) {
		if l.Rank != last {
			n, last = 0, l.Rank
		}
		n++
		most = max(most, n)
	}
	return most
}

// recorded returns the duration of the run in seconds, or 0 if it is not known.
func (r *replay) recorded(ctx context.Context, f *tracefile.File) (float64, error) {
	t := timeline.Of(f.Reader)
	if timeline.NeedTimes(t, "that") != nil {
		return 0, nil
	}
	clocks, err := tracefile.ClockBeside(ctx, r.file, storage.Flags{}, f)
	if err != nil {
		return 0, err
	}
	length, err := reexecution.Length(t, clocks.Clocks)
	return float64(length) / 1e9, err
}

func (r *replay) say(format string, args ...any) {
	fmt.Fprintf(r.stderr, "cairn: "+format+"\n", args...)
}
