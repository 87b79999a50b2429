package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// localRun is one `cairn run`.
type localRun struct {
	out            string // "": the first default one that is free
	replace        bool   // an earlier run in it
	callSites      string
	timing         string // as the tracer's configuration has it
	mode           string // the same
	verify         bool
	pointers       bool
	include        []string // groups of functions
	exclude        []string
	startOff       bool
	command        []string
	stdout, stderr io.Writer
}

func (r localRun) run(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // signals mean something else here than in other commands
	if err := checkCommand(r.command[0]); err != nil {
		return err
	}
	signals := catchEndSignals()
	defer signals.stop()
	folder, err := newRunFolder(r.out, r.replace)
	if isUsageError(err) {
		return err
	}
	var root *tracerRoot
	if err == nil {
		defer folder.Close()
		if err := folder.clear(); err != nil { // with --force
			return usageError(fmt.Errorf("the earlier run in %s cannot be removed: %w", r.out, err))
		}
		root, err = newTracerRoot(folder, setup.Config{
			CallSites: r.callSites, Timing: r.timing, Mode: r.mode, Pointers: r.pointers, Verify: r.verify, Enabled: true,
			Include: strings.Join(r.include, ","), Exclude: strings.Join(r.exclude, ","), StartOff: r.startOff,
		})
	}
	environment := os.Environ()
	if err != nil {
		// the program matters more than its trace: it runs all the same
		r.say("tracing is off: %v", err)
	} else {
		defer root.remove()
		defer folder.leave()
		environment = append(environment, root.environment...)
	}
	select {
	case s := <-signals.asked:
		return statusError(endedBy(s), nil)
	default:
	}
	job := tracedJob{command: r.command, environment: environment, signals: signals, say: r.say}
	packed := func() {}
	if root != nil {
		packed = packMeanwhile(ctx, folder.spool())
	}
	code, err := job.run()
	packed()
	if err != nil {
		return err
	}
	if root == nil {
		return statusOf(code, false)
	}
	return r.finish(ctx, folder, root, &job, code)
}

// packMeanwhile codes times while the job goes on; the function that it returns ends that.
func packMeanwhile(ctx context.Context, spool string) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		shipper.Pack(ctx, spool)
	}()
	return func() {
		cancel()
		<-done
	}
}

// finish makes traces and reports of what the job has left.
func (r localRun) finish(ctx context.Context, folder *runFolder, root *tracerRoot, job *tracedJob, code int) error {
	f := newFinishing(ctx, folder, r, job.signals, root.remove, code)
	defer f.stop()
	fine := r.collect(ctx, f, job)
	switch {
	case code == 0 && f.cutShort && job.asked != 0:
		code = endedBy(job.asked)
	case code == 0 && f.unfinished():
		code = endedBy(f.asked())
	}
	return statusOf(code, fine)
}

// maxProblems is how many are told one by one: what goes wrong on one rank goes wrong on most.
const maxProblems = 3

// collect makes traces and reports of what the run left in the spool, and reports whether all of that worked.
func (r localRun) collect(ctx context.Context, f *finishing, job *tracedJob) bool {
	// a trace that is begun is finished, whatever signal comes; a second one ends this process
	runs, problems, err := shipper.RunLocal(ctx, shipper.LocalOptions{Spool: f.folder.spool(), Out: f.folder.path})
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
		if job.asked != 0 {
			r.say("the command ended before a rank had recorded a call: there is no trace")
		} else if f.code == 0 && len(problems) == 0 { // else they say why
			r.say("nothing was traced: %s", whyNothingWasTraced(r.command))
		}
		return false
	case err != nil:
		r.say("%v", err)
		return false
	}
	f.merged(runs)
	fine := true
	for _, run := range runs {
		if f.asked() != 0 {
			break
		}
		if len(runs) > 1 {
			fmt.Fprintf(r.stdout, "\n%s\n", run.Directory)
		}
		if !r.conclude(f.ctx, run) {
			fine = false
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

// say prints one line about Cairn itself, apart from what the application prints.
func (r localRun) say(format string, args ...any) {
	fmt.Fprintf(r.stderr, "cairn: "+format+"\n", args...)
}
