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

// endGrace is how long a job that was asked to end may take: shorter than the 30 s after which Kubernetes and Slurm kill
// everything, so that its trace can be finished.
const endGrace = 10 * time.Second

// A Job is the command while it runs.
type Job struct {
	Command     []string
	Environment []string
	Signals     *EndSignals
	Say         func(format string, args ...any)

	process  *exec.Cmd
	witness  *witness
	Asked    syscall.Signal // the first signal to end; 0: none
	deadline time.Time      // when it has to have ended then
	killed   bool           // it did not end when it was asked to
}

// CheckCommand reports, as shells do, why a command cannot be started: 127 if there is none, 126 if it may not be.
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

// Run runs the command to its end and returns its exit code as a shell would give it, or an error if it could not be
// started. A signal that asks Cairn to end reaches the command, once. If it then lives on for too long, or is asked a
// second time, it is killed. At a terminal that is up to the person who sits there: Ctrl-C may mean something to it.
func (j *Job) Run() (code int, err error) {
	j.process = exec.Command(j.Command[0], j.Command[1:]...)
	j.process.Stdin, j.process.Stdout, j.process.Stderr = os.Stdin, os.Stdout, os.Stderr
	j.process.Env = j.Environment
	j.witness = newWitness()
	defer func() { j.witness.dismiss() }()
	if err := j.process.Start(); err != nil {
		return 0, cli.StatusError(startFailure(err), err)
	}
	ended := make(chan struct{})
	go func() {
		_ = j.process.Wait() // ProcessState has it
		close(ended)
	}()
	j.follow(ended)
	if j.Asked != 0 {
		j.awaitOthers()
	}
	status, ok := j.process.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && status.Signal() == syscall.SIGKILL && j.killed:
		return cli.EndedBy(j.Asked), nil
	case ok && status.Signaled():
		return cli.EndedBy(status.Signal()), nil
	}
	return j.process.ProcessState.ExitCode(), nil
}

// follow waits for the end of the command.
func (j *Job) follow(ended <-chan struct{}) {
	const again = 100 * time.Millisecond // what is killed may have started something meanwhile
	var late <-chan time.Time            // never, until it is asked to end
	for {
		select {
		case <-ended:
			return
		case <-late:
			if !j.killed {
				j.Say("the command has not ended for %v: it is killed", endGrace)
			}
			j.kill()
			late = time.After(again)
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
				j.announce(s, "the command has it too; the trace is finished when that has ended")
				continue
			}
			late = time.After(endGrace)
			j.announce(s, fmt.Sprintf("waiting up to %v for the command to end, then the trace is finished; once more kills the command", endGrace))
		}
	}
}

// announce says once what follows from a signal.
func (j *Job) announce(s syscall.Signal, what string) {
	if j.Asked == 0 {
		j.Asked, j.deadline = s, time.Now().Add(endGrace)
		j.Say("%s: %s", unix.SignalName(s), what)
	}
}

// forward makes sure that the job gets the signal: the command, and what it has started in this process group, which is
// what a key at a terminal reaches. It reports whether they had it already.
func (j *Job) forward(s syscall.Signal) (seen bool) {
	// what a shell between Cairn and the launcher leaves behind is to stay in sight
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	seen = j.witness.sawIt()
	if seen {
		j.witness.dismiss()
		j.witness = newWitness()
	}
	group := unix.Getpgrp()
	for _, p := range j.processes() {
		if p.group != group {
			continue
		}
		if !seen {
			_ = unix.Kill(p.pid, s)
		}
		if p.stopped { // the signal waits until it goes on
			_ = unix.Kill(p.pid, unix.SIGCONT)
		}
	}
	return seen
}

// processes are those of the job that are left.
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

// awaitOthers waits for what a command that was asked to end has left running: a launcher under a shell, ranks whose
// launcher died.
func (j *Job) awaitOthers() {
	const leastWait, poll = time.Second, 100 * time.Millisecond
	deadline := j.deadline
	if soonest := time.Now().Add(leastWait); deadline.Before(soonest) {
		deadline = soonest
	}
	for ; len(j.processes()) > 0; time.Sleep(poll) {
		late := time.Now().After(deadline)
		if late && !j.killed {
			j.Say("processes that the command has started live on: they are killed")
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

// StatusOf is how the process ends: as the command did, unless that went well and tracing did not.
func StatusOf(code int, fine bool) error {
	switch {
	case code != 0:
		return cli.StatusError(code, nil)
	case !fine:
		return cli.StatusError(cli.ExitInternal, nil)
	}
	return nil
}
