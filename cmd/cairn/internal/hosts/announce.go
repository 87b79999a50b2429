package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxTask is the limit for a task's announcement.
const maxTask = 4096

// announce tells the compressor of a host of this process, which gets a descriptor of it: the
// compressor may be in another PID namespace.
func announce(here folder, task *Task) error {
	address, done, err := here.address()
	if err != nil {
		return err
	}
	defer done()
	c, err := net.DialUnix("unix", nil, address)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(startLimit))
	words, err := json.Marshal(task)
	if err != nil {
		return err
	}
	var rights []byte
	self, err := unix.PidfdOpen(os.Getpid(), 0)
	if err == nil { // from Linux 5.3 on
		defer unix.Close(self)
		rights = unix.UnixRights(self)
	}
	if _, _, err := c.WriteMsgUnix(words, rights, nil); err != nil {
		return err
	}
	if n, err := c.Read(make([]byte, 1)); n != 1 {
		return fmt.Errorf("no answer: %w", err)
	}
	return nil
}

// address returns the address of a folder's socket. The path may be too long for one.
func (f folder) address() (address *net.UnixAddr, done func(), err error) {
	directory, err := os.Open(string(f))
	if err != nil {
		return nil, nil, err
	}
	name := fmt.Sprintf("/proc/self/fd/%d/%s", directory.Fd(), socketFile)
	return &net.UnixAddr{Name: name, Net: "unix"}, func() { directory.Close() }, nil
}

// An announced task, and how it is seen to end.
type announced struct {
	Task
	process *os.File // its descriptor; nil: the system has none
	pid     int      // in this PID namespace; 0: it is in another one
}

// receive reads what a task announces.
func receive(c *net.UnixConn) (*announced, error) {
	words, rights := make([]byte, maxTask), make([]byte, unix.CmsgSpace(4))
	n, k, _, _, err := c.ReadMsgUnix(words, rights)
	if err != nil {
		return nil, err
	}
	a := new(announced)
	if messages, err := unix.ParseSocketControlMessage(rights[:k]); err == nil {
		for i := range messages {
			fds, _ := unix.ParseUnixRights(&messages[i])
			for _, fd := range fds {
				a.process = os.NewFile(uintptr(fd), "process")
			}
		}
	}
	if err := json.Unmarshal(words[:n], &a.Task); err != nil {
		return nil, err
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	failed := raw.Control(func(fd uintptr) {
		var peer *unix.Ucred
		if peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			a.pid = int(peer.Pid)
		}
	})
	return a, errors.Join(failed, err)
}

// await returns when the task has ended.
func (a *announced) await() {
	if a.process != nil {
		for poll := []unix.PollFd{{Fd: int32(a.process.Fd()), Events: unix.POLLIN}}; ; {
			if _, err := unix.Poll(poll, -1); !errors.Is(err, unix.EINTR) {
				a.process.Close()
				return
			}
		}
	}
	const interval = 100 * time.Millisecond
	for a.pid > 0 && !errors.Is(syscall.Kill(a.pid, 0), unix.ESRCH) {
		time.Sleep(interval)
	}
}
