package localrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/untraced"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/resolver"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// Run is one `cairn run`.
type Run struct {
	Out            string            // "": the first unused default folder
	Replace        bool              // replace an earlier run in the folder
	Settings       settings.Settings // of the tracer
	Command        []string
	Stdout, Stderr io.Writer

	spread bool // over hosts that may not have delivered all of it
}

// Run runs the command, and makes traces and reports of what its ranks recorded.
func (r Run) Run(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // signals have a different meaning here than in other commands
	if err := launch.CheckCommand(r.Command[0]); err != nil {
		return err
	}
	signals := launch.CatchEndSignals()
	defer signals.Stop()
	if _, err := tracerroot.FindLibraries(); err != nil {
		return err
	}
	folder, err := newRunFolder(r.Out, r.Replace)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.clear(); err != nil { // with --force
		return cli.UsageError(fmt.Errorf("the earlier run in %s cannot be removed: %w", folder.path, err))
	}
	if line, ok := launch.Parse(r.Command); ok && line.LeavesThisHost() {
		return r.onHosts(ctx, folder, signals, line)
	}
	root, err := tracerroot.New(folder.tracer(), r.Settings)
	if err != nil {
		folder.leave()
		return cli.UsageError(unwritable(folder.path, err))
	}
	defer root.Remove()
	defer folder.leave()
	select {
	case s := <-signals.Asked:
		return cli.StatusError(cli.EndedBy(s), nil)
	default:
	}
	job := launch.Job{Command: r.Command, Environment: append(os.Environ(), root.Environment...), Signals: signals, Say: r.say}
	end := tracerroot.Compress(ctx, folder.spool(), r.say)
	names := tracerroot.Listen(folder.spool(), r.say)
	if names != nil {
		defer names.Close()
	}
	processes := untraced.NewObserver(root.Path)
	job.Started = func(pid int) { processes.Observe(pid, folder.recorded) }
	code, err := job.Run()
	processes.Stop()
	end()
	if err != nil {
		return err
	}
	return r.finish(ctx, folder, root.Remove, &job, processes, names, code)
}

// finish makes traces and reports from what the job recorded.
func (r Run) finish(
	ctx context.Context, folder *runFolder, remove func(), job *launch.Job, processes *untraced.Observer, names *resolver.Listener, code int,
) error {
	f := newFinishing(ctx, folder, r, job.Signals, remove, code)
	defer f.stop()
	if names != nil {
		names.Wait(f.ctx)
	}
	fine := r.collect(ctx, f, job, processes)
	switch {
	case code == 0 && f.cutShort && job.Asked != 0:
		code = cli.EndedBy(job.Asked)
	case code == 0 && f.unfinished():
		code = cli.EndedBy(f.asked())
	}
	return launch.StatusOf(code, fine)
}

// maxProblems is the number of problems that are printed one by one: a problem of one rank is
// usually a problem of most.
const maxProblems = 3

// collect makes traces and reports from the spool of the run. It reports whether all of it
// succeeded.
func (r Run) collect(ctx context.Context, f *finishing, job *launch.Job, processes *untraced.Observer) bool {
	why := "there is no trace of it" // why the spool is needed; "": it is not
	defer func() { r.keepSpool(f.folder, why) }()
	// a trace that is being written is finished even after a signal; a second signal ends this
	// process
	runs, problems, err := shipper.RunLocal(ctx, shipper.LocalOptions{Spool: f.folder.spool(), Out: f.folder.path, Launcher: launcherOf(job, f.code)})
	for i, problem := range problems {
		if i == maxProblems {
			r.say("and %d more of this kind", len(problems)-i)
			break
		}
		r.say("%s", problem)
	}
	switch {
	case errors.Is(err, shipper.ErrNothingTraced):
		f.cutShort = true
		cause, seen := processes.Explain(r.Command)
		switch {
		case job.Asked != 0:
			r.say("the command ended before a rank had recorded a call: there is no trace")
		case len(problems) > 0: // they say why
		case f.code != 0 && !seen:
			r.say("the command ended with exit code %d, and no rank recorded a call: there is no trace", f.code)
		case f.code != 0:
			r.say("the command ended with exit code %d, and no rank recorded a call: %s", f.code, cause)
		default:
			r.say("nothing was traced: %s", cause)
		}
		return false
	case errors.Is(err, shipper.ErrNeverInitialized):
		f.cutShort = true
		switch {
		case job.Asked != 0:
		case f.code != 0:
			r.say("the command ended with exit code %d, and no call of MPI_Init was seen: there is no trace", f.code)
		default:
			r.say("there is no trace: no call of MPI_Init was seen")
		}
		return len(problems) == 0
	case err != nil:
		r.say("%v", err)
		return false
	}
	f.merged(runs)
	if len(problems) > 0 {
		why = "not all of it is in a trace (above)"
	} else if why = notMerged(f.folder.spool(), runs); why == "" {
		why = r.missing(f.folder, runs)
	}
	fine := true
	for _, run := range runs {
		if f.asked() != 0 {
			break
		}
		if len(runs) > 1 {
			fmt.Fprintf(r.Stdout, "\n%s\n", run.Directory)
		}
		if run.Misplaced != nil {
			r.say("the trace cannot be written to %s: %v. It is in %s", r.Out, run.Misplaced, run.Directory)
			fine = false
		}
		if !r.conclude(f.ctx, run, processes) {
			fine = false
			if r.Settings.Verify && why == "" {
				why = "it has the reference logs of --verify"
			}
		}
		if exists(filepath.Join(run.Directory, reportFolder, report.PageFile)) {
			f.reported()
		}
	}
	if f.unfinished() {
		f.explain()
		return false
	}
	return fine
}

// launcherOf returns how the command of a job ended; nil if this process did not start it.
func launcherOf(job *launch.Job, code int) *trace.Launcher {
	if len(job.Command) == 0 {
		return nil
	}
	return &trace.Launcher{ExitCode: code, Signal: int(job.EndedBy), Asked: int(job.Asked)}
}

// say prints one line about Cairn itself, marked so that it differs from the application's output.
func (r Run) say(format string, args ...any) {
	fmt.Fprintf(r.Stderr, "cairn: "+format+"\n", args...)
}
