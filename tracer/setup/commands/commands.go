// Package commands has the two commands of a pod's init containers, install and probe.
//
// The result is a verdict on the standard output and in the termination log,
// where the operator reads it. They succeed whatever happens: a wrong argument, a bug, a full
// volume or a signal. A failing init container would keep the job from running, and might be
// counted by a podFailurePolicy of the user. So they return nothing.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/internal/tracerflags"
	"github.com/cairn-mpi/cairn/tracer/settings"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// Streams are a command's outputs.
type Streams struct{ Out, Err io.Writer }

// Install runs "cairn install" until it is done or ctx is canceled.
func Install(ctx context.Context, args []string, s Streams) {
	var o setup.InstallOptions
	flags, log := newFlags("install", s)
	flags.StringVar(&o.To, "to", "/cairn", "mount point of the volume")
	flags.Int64Var(&o.SpoolLimitBytes, "spool-limit-bytes", 0, "bytes that all processes together may write to the spool (0: the sidecar sets the limit)")
	flags.StringVar(&o.Buffers, "buffers", "", "mount point of a tmpfs for record buffers (empty: they are in the spool)")
	finish(ctx, s, log, func() (setup.Verdict, bool) {
		refused, wanted := parse(flags, args)
		if o.Refused = refused; !wanted {
			return setup.Verdict{}, false
		}
		return setup.Install(o), true
	})
}

// Probe runs "cairn probe" until it is done or ctx is canceled.
func Probe(ctx context.Context, args []string, s Streams) {
	o := setup.ProbeOptions{Getenv: os.Getenv}
	flags, log := newFlags("probe", s)
	flags.StringVar(&o.Root, "root", "/cairn", "the tracer's root")
	flags.DurationVar(&o.Timeout, "timeout", setup.DefaultTimeout, "how long to look at the image; nothing is traced if that is not enough")
	tracing := tracerflags.Register(flags, settings.Probe)
	finish(ctx, s, log, func() (setup.Verdict, bool) {
		refused, wanted := parse(flags, args)
		if o.Refused = refused; !wanted {
			return setup.Verdict{}, false
		}
		o.Settings = tracing.Settings()
		if err := tracerflags.CheckTiming(&o.Settings); err != nil {
			fmt.Fprintln(s.Err, "cairn:", err, "(every time stamp is kept)")
		}
		if err := tracerflags.CheckMode(&o.Settings); err != nil {
			fmt.Fprintln(s.Err, "cairn:", err, "(every rank is recorded by itself)")
		}
		if err := tracerflags.CheckGroups(&o.Settings); err != nil && o.Refused == "" {
			o.Refused = err.Error()
		}
		verdict, _ := setup.Probe(o) // the error is in the verdict, too
		return verdict, true
	})
}

func newFlags(name string, s Streams) (*pflag.FlagSet, *string) {
	flags := pflag.NewFlagSet("cairn "+name, pflag.ContinueOnError)
	flags.SetOutput(s.Out)
	log := flags.String("termination-log", "/dev/termination-log", "file for the result as JSON; ignored where it does not exist")
	return flags, log
}

// parse returns what is wrong with the arguments, "" if nothing is. wanted is false if help was
// printed instead.
func parse(flags *pflag.FlagSet, args []string) (refused string, wanted bool) {
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return "", false
	case err != nil:
		return fmt.Sprintf("%s: %v: this image and the operator are of different versions", flags.Name(), err), true
	case flags.NArg() > 0:
		return fmt.Sprintf("%s: unknown argument %q", flags.Name(), flags.Arg(0)), true
	}
	return "", true
}

// finish does a command's work and reports the result.
func finish(ctx context.Context, s Streams, log *string, work func() (setup.Verdict, bool)) {
	signal.Ignore(syscall.SIGPIPE) // a closed standard output is no failure
	type result struct {
		verdict setup.Verdict
		wanted  bool
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{internalError(fmt.Sprintf("a bug: %v", r)), true}
			}
		}()
		verdict, wanted := work()
		done <- result{verdict, wanted}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		select { // a result within the grace period counts
		case r = <-done:
		case <-time.After(maxGrace):
			r = result{internalError("terminated before it was done"), true}
		}
	}
	if r.wanted {
		report(s, *log, r.verdict)
	}
}

// maxGrace is how long a command may continue after its context was canceled.
const maxGrace = 500 * time.Millisecond

func internalError(message string) setup.Verdict {
	return setup.Verdict{ABI: []string{}, Reason: messages.ProbeInternalError, Message: message}
}

// report writes a verdict to the standard output and to the termination log. Outside a pod there is
// no log; in a pod a full disk is no reason to fail.
func report(s Streams, log string, verdict setup.Verdict) {
	raw, err := messages.Encode(verdict.Fit())
	if err != nil {
		fmt.Fprintln(s.Err, "cairn:", err)
		return
	}
	fmt.Fprintf(s.Out, "%s\n", raw)
	file, err := os.OpenFile(log, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if _, err := file.Write(raw); err != nil {
		fmt.Fprintln(s.Err, "cairn:", err)
	}
}
