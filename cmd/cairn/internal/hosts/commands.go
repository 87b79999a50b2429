package hosts

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/internal/tracerflags"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

const (
	compressorCommand = "compress-host"
	sendCommand       = "send"
)

// NewExecCommand returns the command `cairn exec`.
func NewExecCommand() *cobra.Command {
	var (
		out, handed string
		tracing     tracerflags.Flags
	)
	c := &cobra.Command{
		Use:   "exec [-o DIR] PROGRAM…",
		Short: "Trace a program under any launcher: srun cairn exec ./app",
		Long: `Exec stands in front of the program in the command of any launcher, on any number of hosts, and becomes the program:
the same process, with the same input, output, signals and exit code. The first task of a host starts a process that
compresses what the host's tasks record, on any CPU that the job may use, and ends after them.

That process writes the host's part to DIR, as the host sees it (default cairn-JOB in the current directory).
Where all hosts share DIR, the last one makes DIR/trace.cairn and DIR/report. "cairn finish DIR" waits for that and prints
the verdict. It also finishes what was cut short, for example if the batch system ended all processes of the job: start
it once on each host then (srun --ntasks-per-node=1 cairn finish DIR). Where hosts do not share DIR, copy the files in
DIR/tracer/parts to one of them before. "cairn run -- mpirun -H a,b ./app" does all this itself.

A DIR that has a run in it is refused before the program starts.`,
		Example: `  srun -n 64 cairn exec -o out ./app
  mpirun -H a,b cairn exec -o out ./app --iterations 100
  cairn finish out`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(errors.New("no program given: mpirun -np 4 cairn exec ./app"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			s := start{task: ThisTask(), command: args, named: out != "", stderr: c.ErrOrStderr()}
			var err error
			if handed != "" {
				s.run, err = parseRun(handed)
			} else {
				s.run.ID, s.run.Settings = s.task.Job, tracing.Settings()
				err = tracerflags.Check(&s.run.Settings)
			}
			switch {
			case err != nil:
				return cli.UsageError(err)
			case c.Flags().Changed("output") && out == "":
				return cli.UsageError(errors.New("-o is empty: name a directory"))
			case store.IsRemote(out):
				return cli.UsageError(errors.New("-o " + out + ": a run is written to a folder; 'cairn copy' copies it to a bucket later"))
			}
			if handed == "" {
				if s.run.Out, err = folderOf(out, s.task.Job); err != nil {
					return err
				}
			}
			s.run.Size, s.run.Local = s.task.Size, s.task.Local
			return s.become()
		},
	}
	// everything after the first argument belongs to the program, even without --
	c.Flags().SetInterspersed(false)
	c.Flags().StringVarP(&out, "output", "o", "", "directory for trace and report (default cairn-JOB)")
	c.Flags().StringVar(&handed, "run", "", "what cairn run knows of the run")
	_ = c.Flags().MarkHidden("run")
	tracing = tracerflags.Register(c.Flags(), settings.Run)
	return c
}

// folderOf returns the absolute path of the folder of a run. All tasks of a job must choose the
// same one, and no other job may.
func folderOf(out, job string) (string, error) {
	if out == "" {
		out = "cairn-out"
		if job != "" {
			out = "cairn-" + job
		}
	}
	return filepath.Abs(out)
}

// NewCompressorCommand returns the command that is the compressor of a host.
func NewCompressorCommand() *cobra.Command {
	var first bool
	c := &cobra.Command{
		Use:    compressorCommand + " FOLDER",
		Short:  "Compress what the tasks of this host record (cairn exec starts it)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if first {
				return detach(folder(args[0]))
			}
			return work(folder(args[0]))
		},
	}
	c.Flags().BoolVar(&first, "detach", false, "start it and return")
	return c
}
