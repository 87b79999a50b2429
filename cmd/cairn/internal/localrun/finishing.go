package localrun

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
	"github.com/cairn-mpi/cairn/shipper"
)

// stopGrace is the time that an analysis has to stop.
const stopGrace = 2 * time.Second

// finishing is what follows the end of a job: merge, analysis, report. A signal stops the analysis
// and keeps what is merged. A second signal ends the process at once.
type finishing struct {
	ctx      context.Context // of the analyses
	stop     func()
	folder   *runFolder
	run      Run
	remove   func() // removes files outside the run's folder
	code     int    // exit code of the command
	cutShort bool   // not all ranks reached MPI_Finalize

	mu     sync.Mutex
	signal syscall.Signal
	traces []shipper.LocalRun // written, but without a report so far
	done   bool               // the traces are written
}

func newFinishing(ctx context.Context, folder *runFolder, run Run, signals *launch.EndSignals, remove func(), code int) *finishing {
	ctx, cancel := context.WithCancel(ctx)
	f := &finishing{ctx: ctx, folder: folder, run: run, remove: remove, code: code}
	ended := make(chan struct{})
	f.stop = func() { close(ended); cancel() }
	go f.follow(signals.Asked, ended, cancel)
	return f
}

func (f *finishing) follow(asked <-chan syscall.Signal, ended <-chan struct{}, cancel func()) {
	var late <-chan time.Time // blocks until the analysis is asked to stop
	for {
		select {
		case <-ended:
			return
		case s := <-asked:
			f.mu.Lock()
			second, done := f.signal != 0, f.done
			f.signal = s
			f.mu.Unlock()
			if second {
				f.abandon()
			}
			cancel()
			if done {
				late = time.After(stopGrace)
			} else {
				f.run.say("%s: the trace is finished, but not analyzed; a second signal ends this, too", unix.SignalName(s))
			}
		case <-late:
			f.abandon()
		}
	}
}

// abandon ends the process.
func (f *finishing) abandon() {
	f.explain()
	if !f.done {
		f.run.saveBuffers(f.folder)
	}
	f.remove()
	code := f.code
	if code == 0 {
		code = cli.EndedBy(f.asked())
	}
	os.Exit(code)
}

// asked returns the signal that has arrived, or 0.
func (f *finishing) asked() syscall.Signal {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.signal
}

// unfinished reports whether a signal prevented the report of a trace.
func (f *finishing) unfinished() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.signal != 0 && len(f.traces) > 0
}

// merged records that the traces are written.
func (f *finishing) merged(runs []shipper.LocalRun) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	for _, run := range runs {
		f.traces = append(f.traces, run)
		f.cutShort = f.cutShort || endedEarly(run)
	}
}

// reported records that the first trace without a report now has one.
func (f *finishing) reported() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.traces = f.traces[1:]
}

func endedEarly(run shipper.LocalRun) bool {
	for _, r := range run.Content.Ranks.All() {
		if r.EndedEarly != "" && !r.TracingStopped() {
			return true
		}
	}
	return false
}

// explain prints what exists and how to continue.
func (f *finishing) explain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := unix.SignalName(f.signal)
	if !f.done {
		f.run.say("%s: stopped before the trace was written; what the ranks recorded is in %s", name, f.run.relative(f.folder.spool()))
		return
	}
	f.run.say("%s: stopped before the report was complete; the trace is complete. To continue:", name)
	for _, run := range f.traces {
		f.run.say("  cairn analyze %s -o %s", quoted(f.run.relative(run.Trace)), quoted(f.run.relative(filepath.Join(run.Directory, reportFolder))))
	}
}

// quoted returns a path quoted for a shell.
func quoted(path string) string {
	if tracerroot.Plain.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
