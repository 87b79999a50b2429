package launch

import (
	"io"
	"os/exec"
	"syscall"
	"time"
)

// A witness is a process of Cairn's process group that every signal ends. It tells signals for the whole group, which the
// job has got too (keys at a terminal, `timeout`, `kill %1`), from those for Cairn alone, which are to be passed on: a
// launcher that gets a signal twice takes that for "end at once", and leaves its ranks to themselves.
type witness struct {
	process *exec.Cmd
	stdin   io.Closer // it ends with Cairn, whose end of this pipe is closed then
	ended   chan struct{}
}

// newWitness starts one; nil where that cannot be done.
func newWitness() *witness {
	w := &witness{process: exec.Command("cat"), ended: make(chan struct{})}
	w.process.Env = []string{} // no LD_PRELOAD of the user's
	var err error
	if w.stdin, err = w.process.StdinPipe(); err != nil {
		return nil
	}
	if err := w.process.Start(); err != nil {
		return nil
	}
	go func() {
		_ = w.process.Wait()
		close(w.ended)
	}()
	return w
}

// sawIt reports whether a signal that has arrived here was for the whole group.
func (w *witness) sawIt() bool {
	const patience = 300 * time.Millisecond // on a busy machine
	if w == nil {
		return atTerminal()
	}
	_ = w.process.Process.Signal(syscall.SIGCONT) // in a group that was stopped, signals wait
	select {
	case <-w.ended:
		return true
	case <-time.After(patience):
		return false
	}
}

func (w *witness) pid() int {
	if w == nil {
		return 0
	}
	return w.process.Process.Pid
}

// dismiss ends it.
func (w *witness) dismiss() {
	if w != nil {
		_ = w.process.Process.Kill()
		<-w.ended
	}
}
