package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// localRun is one `cairn run`.
type localRun struct {
	out, callSites string
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
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	root := filepath.Join(out, "tracer")
	spool := filepath.Join(root, "spool")
	environment := os.Environ()
	preload, err := prepareTracer(root, setup.Config{
		Spool: spool, CallSites: r.callSites, Timing: r.timing, Mode: r.mode, Pointers: r.pointers, Verify: r.verify, Enabled: true,
		Include: strings.Join(r.include, ","), Exclude: strings.Join(r.exclude, ","), StartOff: r.startOff,
	})
	tracing := err == nil
	if tracing {
		environment = append(environment, "LD_PRELOAD="+preload, "CAIRN_ROOT="+root)
	} else {
		// the program matters more than its trace: it runs all the same
		r.say("tracing is off: %v", err)
	}

	code := execute(ctx, r.command, environment)
	fine := tracing && r.collect(ctx, out, spool, code)
	switch {
	case code != 0:
		return statusError{code: code}
	case !fine:
		return statusError{code: exitInternal}
	}
	return nil
}

// maxProblems is how many are told one by one: what goes wrong on one rank goes wrong on most.
const maxProblems = 3

// collect makes traces and reports of what the run left in the spool, and tells whether all of that worked.
func (r localRun) collect(ctx context.Context, out, spool string, code int) bool {
	runs, problems, err := shipper.RunLocal(ctx, shipper.LocalOptions{Spool: spool, Out: out})
	for i, problem := range problems {
		if i == maxProblems {
			r.say("and %d more of this kind", len(problems)-i)
			break
		}
		r.say("%s", problem)
	}
	switch {
	case errors.Is(err, shipper.ErrNothingTraced) && len(problems) > 0:
		return false // the problems say why
	case errors.Is(err, shipper.ErrNothingTraced):
		if code == 0 {
			r.say("nothing was traced: %s", whyNothingWasTraced(r.command))
		}
		return false
	case err != nil:
		r.say("%v", err)
		return false
	}
	fine := true
	for _, run := range runs {
		if len(runs) > 1 {
			fmt.Fprintf(r.stdout, "\n%s\n", run.Directory)
		}
		if !r.conclude(ctx, run) {
			fine = false
		}
	}
	return fine
}

// say prints one line about Cairn itself, apart from what the application prints.
func (r localRun) say(format string, args ...any) {
	fmt.Fprintf(r.stderr, "cairn: "+format+"\n", args...)
}
