package hosts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/resolver"
)

// The compressor of a host is a session of its own, started by a process that ends at once. So it
// is nobody's child, and no signal to the job's processes reaches it.

const (
	heldDescriptor  = 3 // the lock of the folder
	readyDescriptor = 4 // is written to when tasks can announce themselves

	// quiet is how long a compressor without tasks waits for further ones, where their number is
	// not known.
	quiet = 2 * time.Second
	// late is the same where it is known, and some have not come.
	late = 5 * time.Second
	// naming is how long the part of a host is delayed for names of call sites.
	naming = 10 * time.Second
)

// detach starts the compressor of a folder, with this process's descriptors, and returns at once.
func detach(here folder) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	runtime.LockOSThread() // which the new process inherits from
	useAllCPUs()
	keepOnly(readyDescriptor)
	c := exec.Command(self, compressorCommand, string(here))
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.ExtraFiles = []*os.File{os.NewFile(heldDescriptor, lockFile), os.NewFile(readyDescriptor, "ready")}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c.Start()
}

// A host is the compressor of a folder at work.
type host struct {
	folder folder
	run    *Run
	begun  time.Time

	mu       sync.Mutex
	tasks    []int // ranks, or unknown
	running  int
	last     time.Time // when a task came or ended last
	closed   bool
	problems []string
}

// work compresses what the tasks of a host record, until they have ended, and writes its part.
func work(here folder) error {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGPIPE) // to the job
	unix.CloseOnExec(heldDescriptor)
	unix.CloseOnExec(readyDescriptor)
	run, err := here.run()
	if err != nil {
		return err
	}
	h := &host{folder: here, run: run, begun: time.Now(), last: time.Now()}
	root, err := tracerroot.New(string(here), run.Settings)
	if err != nil {
		return err
	}
	names := tracerroot.Listen(here.spool(), h.note)
	end := tracerroot.Compress(context.Background(), here.spool(), h.note)
	if err := h.listen(); err != nil {
		return err
	}
	ready := os.NewFile(readyDescriptor, "ready")
	_, _ = ready.Write([]byte{1}) // whoever waited for it may have ended; others come
	ready.Close()
	h.await()
	if delivered, err := h.deliver(root, end, names); !delivered {
		return err
	}
	// what --verify has to say is for whoever asks
	if !run.Collected && !run.Settings.Verify && complete(run.Out) {
		return finish(run)
	}
	return nil
}

// deliver has the host's part in the run's folder, if this host sees that.
func (h *host) deliver(root *tracerroot.Root, end func(), names *resolver.Listener) (delivered bool, err error) {
	defer h.run.comes()()
	end()
	if names != nil {
		ctx, cancel := context.WithTimeout(context.Background(), naming)
		names.Wait(ctx)
		cancel()
		names.Close()
	}
	if err := h.folder.pack(h.part()); err != nil {
		return false, err
	}
	root.Remove()
	if h.run.Collected && !h.run.sees() {
		return false, nil // it is asked for the part
	}
	err = h.folder.deliver(h.run)
	return err == nil, err
}

// note keeps what is to be said to the user with the part.
func (h *host) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Printf(format+"\n", args...)
	if line := fmt.Sprintf(format, args...); !slices.Contains(h.problems, line) {
		h.problems = append(h.problems, line)
	}
}

// useAllCPUs lets what this thread starts run, and have memory, wherever the job may: a rank may be
// bound to a core.
func useAllCPUs() {
	var all unix.CPUSet
	for cpu := range len(all) * 64 {
		all.Set(cpu)
	}
	_ = unix.SchedSetaffinity(0, &all)
	const standard = 0 // MPOL_DEFAULT
	_, _, _ = unix.Syscall(unix.SYS_SET_MEMPOLICY, standard, 0, 0)
}

// keepOnly keeps descriptors above the last one from what this process starts: a launcher waits
// until nobody has its pipes and sockets.
func keepOnly(last int) {
	open, _ := os.ReadDir("/proc/self/fd")
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > last {
			unix.CloseOnExec(fd)
		}
	}
}

// listen accepts tasks from now on.
func (h *host) listen() error {
	if err := os.RemoveAll(h.folder.path(socketFile)); err != nil { // of a compressor that was killed
		return err
	}
	address, done, err := h.folder.address()
	if err != nil {
		return err
	}
	defer done()
	l, err := net.ListenUnix("unix", address)
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false) // its path is one of this moment
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			go h.accept(c)
		}
	}()
	return nil
}

// accept takes a task, which waits for the answer.
func (h *host) accept(c *net.UnixConn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(startLimit))
	a, err := receive(c)
	if err != nil {
		return
	}
	h.mu.Lock()
	closed := h.closed
	if !closed {
		h.running++
		h.tasks = append(h.tasks, a.Rank)
		h.last = time.Now()
		h.folder.addTask(a.Rank)
	}
	h.mu.Unlock()
	if closed {
		return // it tries again, and has a compressor of its own
	}
	_, _ = c.Write([]byte{1})
	go func() {
		a.await()
		h.mu.Lock()
		h.running--
		h.last = time.Now()
		h.mu.Unlock()
	}()
}

// await returns when the tasks of the host have ended, and no process that they left is traced.
func (h *host) await() {
	const interval = 20 * time.Millisecond
	for ; ; time.Sleep(interval) {
		h.mu.Lock()
		wait := quiet
		switch {
		case h.run.Local != unknown && len(h.tasks) >= h.run.Local, h.run.Size != unknown && len(h.tasks) >= h.run.Size:
			wait = 0
		case h.run.Local != unknown && len(h.tasks) > 0:
			wait = late
		}
		idle := h.running == 0 && time.Since(h.last) >= wait
		h.mu.Unlock()
		if !idle || anyAlive(h.folder.spool()) {
			continue
		}
		h.mu.Lock()
		h.closed = h.running == 0
		closed := h.closed
		h.mu.Unlock()
		if closed {
			return
		}
	}
}

// processesIn returns the folders of the processes in a spool.
func processesIn(directory string) (found []string) {
	entries, _ := os.ReadDir(directory)
	for _, e := range entries {
		if e.IsDir() && e.Name() != resolver.Directory && !strings.HasPrefix(e.Name(), ".") {
			found = append(found, filepath.Join(directory, e.Name()))
		}
	}
	return found
}

// anyAlive reports whether a process in a spool is alive.
func anyAlive(directory string) bool {
	for _, path := range processesIn(directory) {
		d, err := spool.OpenPath(path)
		if err != nil {
			continue
		}
		alive, err := d.Alive()
		_ = d.Close()
		if alive && err == nil {
			return true
		}
	}
	return false
}

// finish makes the trace of a run from all parts, unless another host does.
func finish(run *Run) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// several hosts may have been the last one, and not all file systems have locks between hosts
	if os.Mkdir(run.election(), 0o755) != nil {
		return nil
	}
	defer os.Remove(run.election())
	c := exec.Command(self, "finish", run.Out)
	c.Env = withoutRank(os.Environ())
	err = c.Run()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return nil // what is wrong is said again by whoever asks
	}
	return err
}
