package compressor

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// deaths observes in which order processes die, and how. A launcher that ends the other ranks after
// a death does so within milliseconds, and all may have ended when anybody looks.
//
// An epoll instance has a pidfd of each process. The kernel appends a pidfd to the list of those
// that are ready when its process dies, so that they are read in the order of deaths, however late.
// Each is reported once for the death and once after the process's parent has waited for it. Until
// then /proc has the wait status, from then on the pidfd, since Linux 6.15. A launcher may end
// before, and the first process of a container need not wait for what it inherits.
//
// Processes in other PID namespaces, and all where there are no pidfds, are not observed.
type deaths struct {
	epoll    int // −1: there is none
	order    int // number of deaths so far
	followed map[int32]*process
}

// burial is how long a dead process is observed, for its parent to wait for it.
const burial = time.Second

func newDeaths() *deaths {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		epoll = -1
	}
	return &deaths{epoll: epoll, followed: map[int32]*process{}}
}

// follow begins to observe a process, if possible.
func (d *deaths) follow(p *process) {
	pid := p.life.PID()
	if d.epoll < 0 || pid == 0 {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
	// the id may be another process's by now
	if p.life.PID() != pid || unix.EpollCtl(d.epoll, unix.EPOLL_CTL_ADD, fd, &event) != nil {
		_ = unix.Close(fd)
		return
	}
	p.pid, p.pidfd = pid, fd
	d.followed[event.Fd] = p
}

// collect notes the deaths since the last time.
func (d *deaths) collect() {
	events := make([]unix.EpollEvent, 64)
	for d.epoll >= 0 && len(d.followed) > 0 {
		n, err := unix.EpollWait(d.epoll, events, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		for _, e := range events[:max(n, 0)] {
			if p := d.followed[e.Fd]; p != nil {
				d.note(p, e.Events&unix.EPOLLHUP != 0)
			}
		}
		if n < len(events) {
			return
		}
	}
}

// note notes the death of a process, or that its parent has waited for it.
func (d *deaths) note(p *process, waitedFor bool) {
	if p.died.IsZero() {
		p.died = time.Now()
		d.order++
		p.life.Died(d.order)
		p.memory.note(p.life)
	}
	status, ok := waitStatus(p.pidfd)
	if !ok {
		status, ok = zombieStatus(p.pid, p.pidfd)
	}
	if ok {
		p.life.Exited(status)
	}
	if ok || waitedFor {
		d.drop(p)
	}
	_ = p.life.Note()
}

// observing reports whether more is to be known of a process that has ended.
func (d *deaths) observing(p *process) bool {
	return p.pidfd >= 0 && (p.died.IsZero() || time.Since(p.died) < burial)
}

// drop ends the observation of a process.
func (d *deaths) drop(p *process) {
	if p.pidfd >= 0 {
		delete(d.followed, int32(p.pidfd))
		_ = unix.Close(p.pidfd)
		p.pidfd = -1
	}
}

// close ends the observation. No process is followed any more.
func (d *deaths) close() {
	if d.epoll >= 0 {
		_ = unix.Close(d.epoll)
	}
}

// waitStatus returns the wait status of a process that its parent has waited for.
func waitStatus(pidfd int) (unix.WaitStatus, bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if err := unix.IoctlPidfdInfo(pidfd, &info); err != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, false
	}
	return unix.WaitStatus(info.Exit_code), true
}

// zombieStatus returns the wait status of a process that has died, and that its parent has not
// waited for.
func zombieStatus(pid, pidfd int) (unix.WaitStatus, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || unix.PidfdSendSignal(pidfd, 0, nil, 0) != nil { // the id may be another process's
		return 0, false
	}
	const state, exitCode = 0, 49
	fields := statFields(stat)
	if len(fields) <= exitCode || string(fields[state]) != "Z" {
		return 0, false
	}
	code, err := strconv.ParseUint(string(fields[exitCode]), 10, 32)
	return unix.WaitStatus(code), err == nil
}
