package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A witness is a process in Cairn's process group that blocks every signal, so that those it got
// stay pending. It distinguishes signals for the whole group, which the job has received too (keys
// at a terminal, `timeout`, `kill %1`), from signals for Cairn alone, which must be forwarded. A
// launcher that gets a signal twice takes it for "end at once" and abandons its ranks.
type witness struct {
	process *exec.Cmd
	earlier uint64    // signals that an earlier witness got, and nobody has asked for
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
	if err := withBlocked(^uint64(0), w.process.Start); err != nil {
		return nil
	}
	go func() {
		_ = w.process.Wait()
		close(w.ended)
	}()
	return w
}

// reachedGroup reports whether a signal that arrived here was sent to the whole group. The next one
// of its kind is another one.
func (j *Job) reachedGroup(s syscall.Signal) bool {
	const patience, poll = 300 * time.Millisecond, 2 * time.Millisecond // enough for a busy machine
	for deadline := time.Now().Add(patience); ; time.Sleep(poll) {
		got, ok := j.witness.got()
		switch {
		case !ok:
			return atTerminal()
		case has(got, s):
			next := newWitness()
			if got, ok = j.witness.got(); ok && next != nil {
				next.earlier = got &^ (1 << (s - 1))
			}
			j.witness.dismiss()
			j.witness = next
			return true
		case time.Now().After(deadline):
			return false
		}
	}
}

// got returns the signals that the witness got, one bit for each.
func (w *witness) got() (signals uint64, ok bool) {
	if w == nil {
		return 0, false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.pid()))
	if err != nil {
		return 0, false
	}
	_, pending, found := strings.Cut(string(status), "\nShdPnd:")
	if _, err := fmt.Sscanf(pending, "%x", &signals); !found || err != nil {
		return 0, false
	}
	return signals | w.earlier, true
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
