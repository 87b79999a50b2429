package resolver

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/symbols"
)

// maxTime is the limit of a child's time. On a busy machine it has little of a CPU.
const maxTime = time.Minute

// work makes the tables of the queue.
func (l *Listener) work() {
	// Children inherit the priority of the thread that starts them. The thread ends with this
	// goroutine.
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
	for {
		m, ok := l.next()
		if !ok {
			return
		}
		err := l.resolve(&m, true)
		if err != nil && l.alive.Err() == nil {
			err = l.resolve(&m, false)
		}
		m.close()
		if err != nil && l.alive.Err() == nil {
			l.Logf("the names of call sites in %q: %v", m.path, err)
		}
		l.mu.Lock()
		l.begun = time.Time{}
		l.mu.Unlock()
	}
}

// next returns the next binary; false: the listener is closed.
func (l *Listener) next() (message, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 || l.alive.Err() != nil {
		if l.alive.Err() != nil {
			return message{}, false
		}
		l.changed.Wait()
	}
	m := l.queue[0]
	l.queue = l.queue[1:]
	l.begun = time.Now()
	return m, true
}

// resolve makes a table in a child, with the debug information or with the symbol table alone.
func (l *Listener) resolve(m *message, debug bool) error {
	// not when it is received: a file system that hangs must not stop the listener
	if !m.regular() {
		return errNotRegular
	}
	out, err := plainfile.Create(l.dir, newTable)
	if err != nil {
		return err
	}
	defer func() {
		out.Close()
		_ = l.dir.Remove(newTable)
	}()
	ctx, cancel := context.WithTimeout(l.alive, maxTime)
	defer cancel()
	args := slices.Concat(l.Command[1:], []string{"--build-id=" + m.buildID, "--path=" + m.path, fmt.Sprintf("--memory=%d", l.Memory)})
	files := m.files[:1]
	if debug {
		args, files = append(args, "--debug"), m.files
	}
	if len(files) > 1 {
		args = append(args, "--debug-file")
	}
	child := exec.CommandContext(ctx, l.Command[0], args...)
	child.Stdout, child.ExtraFiles = out, files
	// not part of a terminal's job, and gone when this thread is
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := child.Run(); err != nil {
		return err
	}
	info, err := out.Stat()
	if err != nil {
		return err
	}
	if !l.reserve(info.Size()) {
		return fmt.Errorf("the tables take more than %d MiB", maxBytes>>20)
	}
	if err := out.Chmod(0o644); err != nil {
		return err
	}
	return l.dir.Rename(newTable, symbols.FileName(m.buildID))
}

// reserve adds a table's size to the total; false: that would be too much.
func (l *Listener) reserve(size int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes+size > maxBytes {
		return false
	}
	l.bytes += size
	return true
}
