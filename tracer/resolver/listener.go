package resolver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/internal/plainfile"
)

// Directory is the directory of a spool with the socket and the tables.
const Directory = "symbols"

// Names in the directory. A rank sends no binary that is marked as received.
const (
	socketName        = "socket"
	newSocket         = ".socket"
	newTable          = ".table"
	receivedExtension = ".received"
	tableExtension    = ".json"
)

// Limits of a listener.
const (
	maxBinaries = 4096
	maxQueued   = 256 // binaries whose descriptors are open
	maxBytes    = 256 << 20
	maxWaiting  = 512         // connections without a message
	maxSilence  = time.Second // of a connection
	maxAccepted = 1024        // connections that are accepted without a pause
)

// DefaultMemory is enough for debug information of 256 MiB.
const DefaultMemory = 1 << 30

// Options of Listen.
type Options struct {
	Spool   string
	Command []string // a program, with arguments, that calls Child
	Memory  int64    // bytes that the child may use; 0 is DefaultMemory
	Logf    func(format string, args ...any)
}

// A Listener receives binaries and makes their tables.
type Listener struct {
	Options
	dir    *os.Root
	socket *os.File
	raw    syscall.RawConn
	alive  context.Context
	end    context.CancelFunc
	idle   sync.WaitGroup // the goroutines

	mu      sync.Mutex
	changed *sync.Cond      // queue and closing
	known   map[string]bool // build ids that were received or have a table
	waiting int             // connections without a message
	queue   []message
	begun   time.Time // when the child was started; zero: there is none
	bytes   int64     // of the tables
	refused bool      // something was refused, which is logged once
}

// Listen listens in a spool, in place of an earlier listener.
func Listen(o Options) (*Listener, error) {
	l := &Listener{Options: o, known: map[string]bool{}}
	if o.Memory == 0 {
		l.Memory = DefaultMemory
	}
	l.changed = sync.NewCond(&l.mu)
	l.alive, l.end = context.WithCancel(context.Background())
	err := l.openDirectory()
	if err == nil {
		err = l.listen()
	}
	if err != nil {
		l.end()
		if l.dir != nil {
			l.dir.Close()
		}
		return nil, fmt.Errorf("the names of call sites: %w", err)
	}
	l.idle.Go(l.serve)
	l.idle.Go(l.work)
	return l, nil
}

// openDirectory opens the directory. What an earlier listener received and did not resolve may be
// sent again.
func (l *Listener) openDirectory() error {
	spool, err := os.OpenRoot(l.Spool)
	if err != nil {
		return err
	}
	defer spool.Close()
	if err = spool.Mkdir(Directory, 0o755); err == nil {
		err = spool.Chmod(Directory, 0o755) // whatever the umask
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if l.dir, err = plainfile.Directory(spool, Directory); err != nil {
		return err
	}
	entries, err := fs.ReadDir(l.dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), tableExtension); ok {
			l.known[id] = true
			if info, err := e.Info(); err == nil {
				l.bytes += info.Size()
			}
		}
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), receivedExtension); ok && !l.known[id] {
			_ = l.dir.Remove(e.Name())
		}
	}
	return nil
}

// listen makes the socket, under its name only when it can be connected to.
func (l *Listener) listen() error {
	folder, err := l.dir.Open(".")
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := l.dir.Remove(newSocket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	l.socket = os.NewFile(uintptr(fd), socketName)
	// the path of the spool may be longer than the address of a socket
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), newSocket)})
	if err == nil {
		err = unix.Listen(fd, maxAccepted)
	}
	if err == nil {
		err = l.dir.Chmod(newSocket, 0o777) // ranks run as other users
	}
	if err == nil {
		err = l.dir.Rename(newSocket, socketName)
	}
	if err == nil {
		l.raw, err = l.socket.SyscallConn()
	}
	if err != nil {
		l.socket.Close()
	}
	return err
}

// Close ends the listener, and the child that is running.
func (l *Listener) Close() {
	_ = l.dir.Remove(socketName)
	l.end()
	l.socket.Close()
	l.mu.Lock()
	l.changed.Broadcast()
	l.mu.Unlock()
	l.idle.Wait()
	for _, m := range l.queue {
		m.close()
	}
	l.dir.Close()
}

// Pending reports whether a binary that was sent before has no result yet.
func (l *Listener) Pending() bool {
	_ = l.raw.Control(func(fd uintptr) { l.accept(int(fd)) })
	l.mu.Lock()
	defer l.mu.Unlock()
	// a child that cannot even be killed, since a file system hangs, is not waited for
	running := !l.begun.IsZero() && time.Since(l.begun) < 2*maxTime
	return running || l.waiting > 0 || l.begun.IsZero() && len(l.queue) > 0
}

// Wait waits until nothing is pending or ctx is done.
func (l *Listener) Wait(ctx context.Context) {
	for l.Pending() && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// serve accepts connections until the socket is closed.
func (l *Listener) serve() {
	_ = l.raw.Read(func(fd uintptr) bool {
		for l.alive.Err() == nil && l.accept(int(fd)) {
		}
		return false // wait for the next one
	})
}

// accept accepts the connections that are there, and reports whether there may be more.
func (l *Listener) accept(fd int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range maxAccepted {
		connection, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED):
		case err != nil:
			return false
		default:
			l.connected(connection)
		}
	}
	return true
}

// connected reads a connection's message, or has a goroutine wait for it. mu is locked.
func (l *Listener) connected(connection int) {
	m, err := receive(connection)
	if errors.Is(err, unix.EAGAIN) && l.waiting < maxWaiting {
		l.waiting++
		l.idle.Go(func() { l.await(connection) })
		return
	}
	_ = unix.Close(connection)
	l.take(m, err)
}

// await waits for the message of a connection.
func (l *Listener) await(connection int) {
	file := os.NewFile(uintptr(connection), socketName)
	defer file.Close()
	_ = file.SetReadDeadline(time.Now().Add(maxSilence))
	var m message
	err := errNoMessage
	if raw, e := file.SyscallConn(); e == nil {
		_ = raw.Read(func(fd uintptr) bool {
			m, err = receive(int(fd))
			return !errors.Is(err, unix.EAGAIN)
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting--
	l.take(m, err)
}

// take queues a received binary unless it is known. mu is locked.
func (l *Listener) take(m message, err error) {
	switch {
	case err != nil:
		if !l.refused {
			l.refused = true
			l.Logf("the names of call sites: refused what a process sent: %v", err)
		}
	case l.known[m.buildID]:
	case len(l.known) >= maxBinaries || len(l.queue) >= maxQueued || l.bytes >= maxBytes:
	default:
		l.known[m.buildID] = true
		if marker, err := plainfile.Create(l.dir, m.buildID+receivedExtension); err == nil {
			marker.Close()
		}
		l.queue = append(l.queue, m)
		l.changed.Signal()
		return
	}
	m.close()
}
