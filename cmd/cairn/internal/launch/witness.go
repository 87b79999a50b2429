package launch

import (
	"io"
	"os/exec"
	"syscall"
	"time"
)

// A witness is a process in Cairn's process group that every signal ends. It distinguishes signals
// for the whole group, which the job has received too (keys at a terminal, `timeout`, `kill %1`),
// from signals for Cairn alone, which must be forwarded. A launcher that gets a signal twice takes
// it for "end at once" and abandons its ranks.
type witness struct {
	process *exec.Cmd
	stdin   io.Closer // closed when Cairn ends, which ends the witness
	ended   chan struct{}
}

// newWitness starts a witness, or returns nil if that is not possible.
func newWitness() *witness {
	w := &witness{process: exec.Command("cat"), ended: make(chan struct{})}
	w.process.Env = []string{} // without the user's LD_PRELOAD
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

// reachedGroup reports whether a signal that arrived here was sent to the whole group.
func (w *witness) reachedGroup() bool {
	const patience = 300 * time.Millisecond // enough for a busy machine
	if w == nil {
		return atTerminal()
	}
	_ = w.process.Process.Signal(syscall.SIGCONT) // in a stopped group signals are not delivered
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

// dismiss ends the witness.
func (w *witness) dismiss() {
	if w != nil {
		_ = w.process.Process.Kill()
		<-w.ended
	}
}
