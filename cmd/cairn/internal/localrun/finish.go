package localrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/hosts"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/untraced"
	"github.com/cairn-mpi/cairn/shipper"
)

// NewFinishCommand returns the command `cairn finish`.
func NewFinishCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "finish DIR",
		Short: "Make trace and report of a run of cairn exec, or of one that was cut short",
		Long: `Finish waits until the tasks of the run in DIR have ended on this host, and makes DIR/trace.cairn and DIR/report from
what they, and the parts of other hosts in DIR, have recorded. If all that has been done, it prints the verdict.

A run whose compressors or whose "cairn run" were killed is finished in the same way. What they left is on the hosts: start
this command once on each, for example with "srun --ntasks-per-node=1 cairn finish DIR". Where hosts do not share DIR,
copy the files in DIR/tracer/parts from the others to one host, and start it there again.`,
		Example: `  cairn finish out
  mpirun -H a,b cairn finish out`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.UsageError(errors.New("name the folder of one run: cairn finish DIR"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			r := Run{Out: args[0], Replace: true, Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr()}
			return r.finishLater(c.Context())
		},
	}
}

const (
	// patience is how long the tasks of a host may go on until they are reported.
	patience = 2 * time.Second
	// arrival is how long the parts of other hosts are awaited.
	arrival = 5 * time.Second
)

// finishLater makes what a run left into trace and report.
func (r Run) finishLater(ctx context.Context) error {
	out, err := filepath.Abs(r.Out)
	if err != nil {
		return err
	}
	if err := r.deliver(out); err != nil {
		return err
	}
	if hosts.ThisTask().Rank > 0 {
		return nil // the first one does the rest
	}
	hosts.AwaitAll(ctx, out, arrival)
	folder, err := r.reopen(out)
	if err != nil {
		return err
	}
	defer folder.Close()
	parts, err := hosts.Unpack(out, folder.spool())
	if err != nil {
		return err // what is unpacked stays
	}
	if !folder.recorded() {
		return r.alreadyFinished(folder)
	}
	defer folder.leave()
	r.spread = true
	for _, p := range parts {
		r.Settings.Verify = r.Settings.Verify || p.Run.Settings.Verify
	}
	signals := launch.CatchEndSignals()
	defer signals.Stop()
	job := &launch.Job{Signals: signals}
	err = r.finish(context.WithoutCancel(ctx), folder, func() {}, job, untraced.NewObserver(""), nil, 0)
	r.describeHosts(parts)
	return err
}

// deliver has this host's part in the folder of the run.
func (r Run) deliver(out string) error {
	err := hosts.Deliver(out, patience)
	if errors.Is(err, hosts.ErrRunning) {
		r.say("tasks of the run still run on this host: waiting for them")
		const forever = 1 << 62
		err = hosts.Deliver(out, forever)
	}
	return err
}

// reopen opens the folder of a run, when nobody else writes to it.
func (r Run) reopen(out string) (*runFolder, error) {
	if !exists(out) {
		return nil, cli.UsageError(fmt.Errorf("there is no run in %s here: hosts that do not share it have it each on their own", r.Out))
	}
	const poll = 100 * time.Millisecond
	for waited := false; ; waited = true {
		folder, err := openRunFolder(out, true)
		if !errors.Is(err, errInUse) {
			return folder, err
		}
		if !waited {
			time.Sleep(patience)
		}
		time.Sleep(poll)
	}
}

// alreadyFinished prints the verdict of a run that has its trace.
func (r Run) alreadyFinished(folder *runFolder) error {
	file := filepath.Join(folder.path, shipper.TraceFile)
	parts := hosts.Parts(folder.path)
	if !exists(file) && len(parts) > 0 {
		r.describeHosts(parts)
		return cli.UsageError(errors.New("nothing to finish was found: no task of the run recorded a call"))
	}
	if !exists(file) {
		return cli.UsageError(fmt.Errorf("nothing to finish was found: no recorded call is in %s, or on this host below %s, where TMPDIR has to be that of the job",
			r.Out, hosts.Places()))
	}
	var written struct{ Verdict struct{ Text string } }
	if raw, err := os.ReadFile(filepath.Join(folder.path, reportFolder, report.DataFile)); err == nil {
		_ = json.Unmarshal(raw, &written)
	}
	fmt.Fprintf(r.Stdout, "\n%s\n\ntrace:  %s\n", written.Verdict.Text, r.relative(file))
	if page := filepath.Join(folder.path, reportFolder, report.PageFile); exists(page) {
		fmt.Fprintf(r.Stdout, "report: %s\n", r.relative(page))
	}
	r.describeHosts(parts)
	return nil
}

// describeHosts prints what the compressors of hosts took, and what they have to say.
func (r Run) describeHosts(parts []*hosts.Part) {
	seconds, names := 0.0, map[string]bool{}
	for _, p := range parts {
		seconds += p.CPUSeconds
		names[p.Host] = true
		for i, problem := range p.Problems {
			if i == maxProblems {
				r.say("host %s: and %d more of this kind", p.Host, len(p.Problems)-i)
				break
			}
			r.say("host %s: %s", p.Host, problem)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(r.Stdout, "hosts:  %d; their compressors took %.2f s of CPU time, which is in no rank's\n", len(names), seconds)
	}
}

// missing returns why the raw records of a run on several hosts are needed beside its traces, "" if
// they are not.
func (r Run) missing(folder *runFolder, runs []shipper.LocalRun) string {
	for _, run := range runs {
		if ranks := run.Summary.Missing.String(); r.spread && ranks != "" {
			return fmt.Sprintf("ranks %s are not in it: `cairn finish %s` on their hosts adds them", ranks, quoted(folder.path))
		}
	}
	if n, known := hosts.Missing(folder.path); r.spread && known && n > 0 {
		return fmt.Sprintf("it has nothing of %s of the job: `cairn finish %s` on their hosts adds what they recorded", wording.Count(n, "task", "tasks"), quoted(folder.path))
	}
	return ""
}
