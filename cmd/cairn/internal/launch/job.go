package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
)

// endGrace is the time that a job has to end after it was asked to. It is shorter than the 30 s
// after which Kubernetes and Slurm kill everything, so that the trace can still be finished.
const endGrace = 10 * time.Second

// A Job is the command while it runs.
type Job struct {
	Command     []string
	Environment []string
	Signals     *EndSignals
	Say         func(format string, args ...any)
	Started     func(pid int) // called with the command's process

	process  *os.Process
	witness  *witness
	EndedBy  syscall.Signal               // the signal that ended the command; 0: none
	Asked    syscall.Signal               // the first signal that asked it to end; 0: none
	deadline time.Time                    // when it must have ended after that signal
	killed   bool                         // it did not end when asked to
	reached  map[syscall.Signal]time.Time // when a signal last reached the whole process group
}

// CheckCommand returns the error, with the exit code of shells, for a command that cannot be
// started: 127 if it does not exist, 126 if it is not executable.
func CheckCommand(command string) error {
	_, err := exec.LookPath(command)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return nil
	}
	return cli.StatusError(startFailure(err), err)
}

func startFailure(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// Run runs the command to its end and returns its exit code as a shell would, or an error if it
// could not be started. A signal that asks Cairn to end is passed to the command once. If the
// command does not end in time, or is asked a second time, it is killed. In the foreground of a
// terminal this is left to the user: Ctrl-C may have a meaning for the command. Other signals are
// passed on to it.
func (j *Job) Run() (code int, err error) {
	command := exec.Command(j.Command[0], j.Command[1:]...)
	command.Env = j.Environment
	if command.Err != nil {
		return 0, cli.StatusError(startFailure(command.Err), command.Err)
	}
	j.witness, j.reached = newWitness(), map[syscall.Signal]time.Time{}
	defer func() { j.witness.dismiss() }()
	if j.process, err = spawn(command.Path, command.Args, command.Environ()); err != nil {
		return 0, cli.StatusError(startFailure(err), err)
	}
	others, stop := catchPassed()
	defer stop()
	if j.Started != nil {
		j.Started(j.process.Pid)
	}
	var state *os.ProcessState
	ended := make(chan struct{})
	go func() {
		state, _ = j.process.Wait()
		close(ended)
	}()
	j.follow(ended, others)
	if j.Asked == 0 && !state.Success() {
		j.catchUp()
	}
	if j.Asked != 0 {
		j.awaitOthers()
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		j.EndedBy = status.Signal()
	}
	switch {
	case ok && status.Signaled() && status.Signal() == syscall.SIGKILL && j.killed:
		return cli.EndedBy(j.Asked), nil
	case ok && status.Signaled():
		return cli.EndedBy(status.Signal()), nil
	}
	return state.ExitCode(), nil
}

// follow forwards signals until the command ends.
func (j *Job) follow(ended <-chan struct{}, others <-chan arrival) {
	const again = 100 * time.Millisecond // killed processes may have started new ones
	var late <-chan time.Time            // blocks until the job is asked to end
	for {
		select {
		case <-ended:
			return
		case <-late:
			if !j.killed {
				j.Say("the command has not ended within %v: it is killed", endGrace)
			}
			j.kill()
			late = time.After(again)
		case a := <-others:
			j.passOn(a)
		case s := <-j.Signals.Asked:
			atKeyboard := (s == syscall.SIGINT || s == syscall.SIGQUIT) && atTerminal()
			if j.Asked != 0 && !atKeyboard {
				j.Say("%s: this is the second signal, the command is killed", unix.SignalName(s))
				j.kill()
				late = time.After(again)
				continue
			}
			seen := j.forward(s)
			if atKeyboard && seen {
				j.announce(s, "the command received it, too; the trace is finished when the command has ended")
				continue
			}
			late = time.After(endGrace)
			j.announce(s, fmt.Sprintf("waiting up to %v for the command to end, then the trace is finished; a second signal kills the command", endGrace))
		}
	}
}

// catchUp takes a signal that ended the command, as one to the whole group does, before Cairn has
// seen it. Later it would end the analysis.
func (j *Job) catchUp() {
	const patience = 200 * time.Millisecond
	select {
	case s := <-j.Signals.Asked:
		j.announce(s, "the command has ended; the trace is finished, a second signal ends that")
	case <-time.After(patience):
	}
}

// announce prints once what a signal causes.
func (j *Job) announce(s syscall.Signal, what string) {
	if j.Asked == 0 {
		j.Asked, j.deadline = s, time.Now().Add(endGrace)
		j.Say("%s: %s", unix.SignalName(s), what)
	}
}

// forward makes sure that the job gets the signal: the command and everything it started in this
// process group, as a key at a terminal would reach. It reports whether they had received it
// already.
func (j *Job) forward(s syscall.Signal) (seen bool) {
	// keeps processes that a shell between Cairn and the launcher leaves behind visible as
	// descendants
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	seen = j.reachedGroup(s)
	group := unix.Getpgrp()
	for _, p := range j.processes() {
		if p.group != group {
			continue
		}
		if !seen {
			_ = unix.Kill(p.pid, s)
		}
		if p.stopped { // the signal is delivered when it continues
			_ = unix.Kill(p.pid, unix.SIGCONT)
		}
	}
	return seen
}

// processes returns the processes of the job that are still running.
func (j *Job) processes() []treeProcess {
	var found []treeProcess
	for _, p := range descendants(os.Getpid()) {
		if p.pid != j.witness.pid() {
			found = append(found, p)
		}
	}
	return found
}

func (j *Job) kill() {
	j.killed = true
	for _, p := range j.processes() {
		_ = unix.Kill(p.pid, unix.SIGKILL)
	}
}

// awaitOthers waits for processes that outlive a command that was asked to end: a launcher under a
// shell, ranks without their launcher.
func (j *Job) awaitOthers() {
	const leastWait, poll = time.Second, 100 * time.Millisecond
	deadline := j.deadline
	if soonest := time.Now().Add(leastWait); deadline.Before(soonest) {
		deadline = soonest
	}
	for ; len(j.processes()) > 0; time.Sleep(poll) {
		late := time.Now().After(deadline)
		if late && !j.killed {
			j.Say("processes that the command started are still running: they are killed")
		}
		select {
		case s := <-j.Signals.Asked:
			j.Say("%s: this is the second signal, what is left of the command is killed", unix.SignalName(s))
			j.kill()
		default:
			if late {
				j.kill()
			}
		}
	}
}

// StatusOf returns the error that ends this process: with the command's code, or with a failure of
// tracing if the command succeeded.
func StatusOf(code int, fine bool) error {
	switch {
	case code != 0:
		return cli.StatusError(code, nil)
	case !fine:
		return cli.StatusError(cli.ExitInternal, nil)
	}
	return nil
}
