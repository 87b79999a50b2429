package localrun

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/hosts"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/untraced"
)

// fetch collects what hosts have recorded. A signal ends it.
func (r Run) fetch(ctx context.Context, run *hosts.Run, line *launch.CommandLine, signals *launch.EndSignals) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case s := <-signals.Asked:
			cancel(errors.New(unix.SignalName(s)))
		case <-ctx.Done():
		}
	}()
	if err := run.Collect(ctx, line, r.say); err != nil {
		r.say("not all hosts have sent what they recorded: %v", err)
	}
}

// onHosts runs a command that may start ranks on other hosts, with `cairn exec` in front of its
// programs, and collects what each host has recorded.
func (r Run) onHosts(ctx context.Context, folder *runFolder, signals *launch.EndSignals, line *launch.CommandLine) error {
	job := &launch.Job{Command: r.Command, Environment: os.Environ(), Signals: signals, Say: r.say}
	run := hosts.NewRun(folder.path, r.Settings)
	prefix, err := run.Prefix()
	if err == nil {
		err = run.Mark()
	}
	if err == nil {
		err = os.MkdirAll(folder.spool(), 0o755)
	}
	if err != nil {
		// the program matters more than its trace, so it runs anyway
		r.say("tracing is off: %v", err)
		code, err := job.Run()
		if err != nil {
			return err
		}
		return launch.StatusOf(code, false)
	}
	defer folder.leave()
	job.Command = line.Prefixed(prefix...)
	code, err := job.Run()
	if err != nil {
		return err
	}
	r.fetch(ctx, run, line, signals)
	parts, err := hosts.Unpack(folder.path, folder.spool())
	if err != nil {
		r.say("%v", err)
	}
	r.spread = true
	defer r.describeHosts(parts)
	return r.finish(ctx, folder, func() {}, job, untraced.NewObserver(""), nil, code)
}
