package strangers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel asks this process before files of a folder are opened, read or written (fanotify,
// since Linux 6.14 for writes): it answers late where the fault is to be.

// accesses are what the kernel asks about.
const accesses = unix.FAN_OPEN_PERM | unix.FAN_PRE_ACCESS | unix.FAN_EVENT_ON_CHILD

func mayWatchFiles() error {
	dir, err := os.MkdirTemp("", "cairn-strangers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f, err := watchFiles(dir)
	if err == nil {
		f.Close()
	}
	return err
}

// watchFiles returns a file with an event for each access to a file below a folder.
func watchFiles(dir string) (*os.File, error) {
	const class = unix.FAN_CLASS_PRE_CONTENT | unix.FAN_CLOEXEC | unix.FAN_NONBLOCK
	fd, err := unix.FanotifyInit(class, unix.O_RDONLY|unix.O_LARGEFILE|unix.O_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("fanotify_init", err)
	}
	f := os.NewFile(uintptr(fd), "fanotify")
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if err := unix.FanotifyMark(fd, unix.FAN_MARK_ADD, accesses, unix.AT_FDCWD, path); err != nil {
			return fmt.Errorf("fanotify_mark: %s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A fileWatch answers the kernel.
type fileWatch struct {
	events  *os.File
	slow    []int        // processes that wait
	each    atomic.Int64 // ns
	held    atomic.Int64 // ns, in total
	working sync.WaitGroup
}

// prepareSlowFiles watches the program's folder: the kernel does not ask about a file that was
// opened before.
func prepareSlowFiles(j *Job, _ int) (end func(), err error) {
	w := &fileWatch{}
	if w.events, err = watchFiles(j.Dir); err != nil {
		return nil, err
	}
	j.files = w
	w.working.Go(w.work)
	return func() {
		w.events.Close()
		w.working.Wait()
	}, nil
}

// beginSlowFiles lets accesses of ranks to files of the program's folder take longer, by
// milliseconds. They wait in the kernel meanwhile, as for a slow disk. Those of others do not.
func beginSlowFiles(j *Job, touched []int, strength float64) (func() float64, error) {
	w := j.files
	w.slow = j.of(touched)
	w.each.Store(int64(strength * float64(time.Millisecond)))
	before := w.held.Load()
	return func() float64 {
		w.each.Store(0)
		return time.Duration(w.held.Load() - before).Seconds()
	}, nil
}

// work answers until the file is closed, which also answers what is open.
func (w *fileWatch) work() {
	for room := make([]byte, 1<<12); ; {
		n, err := w.events.Read(room)
		if err != nil {
			return
		}
		for _, e := range eventsIn(room[:n]) {
			each := w.each.Load()
			if each == 0 || !slices.Contains(w.slow, int(e.Pid)) {
				w.answer(e.Fd)
				continue
			}
			w.working.Go(func() {
				time.Sleep(time.Duration(each))
				w.held.Add(each)
				w.answer(e.Fd)
			})
		}
	}
}

func (w *fileWatch) answer(fd int32) {
	a := unix.FanotifyResponse{Fd: fd, Response: unix.FAN_ALLOW}
	_, _ = w.events.Write(unsafe.Slice((*byte)(unsafe.Pointer(&a)), unsafe.Sizeof(a)))
	_ = unix.Close(int(fd))
}

// eventsIn returns the events that the kernel wrote.
func eventsIn(b []byte) (all []unix.FanotifyEventMetadata) {
	const size = int(unsafe.Sizeof(unix.FanotifyEventMetadata{}))
	for len(b) >= size {
		e := *(*unix.FanotifyEventMetadata)(unsafe.Pointer(&b[0]))
		if int(e.Event_len) < size || int(e.Event_len) > len(b) {
			break
		}
		all, b = append(all, e), b[e.Event_len:]
	}
	return all
}

// mayMount returns why a small file system cannot be mounted.
func mayMount() error {
	dir, err := os.MkdirTemp("", "cairn-strangers-")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	if err := mountSmall(dir); err != nil {
		return err
	}
	return os.NewSyscallError("umount", unix.Unmount(dir, unix.MNT_DETACH))
}

// mountSmall mounts a file system that soon is full.
func mountSmall(dir string) error {
	return os.NewSyscallError("mount", unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"))
}

// beginFull fills the program's folder, which is a small file system (stage.place).
func beginFull(j *Job, _ []int, strength float64) (func() float64, error) {
	if strength == 0 {
		return noEffect, nil
	}
	if err := fill(j.Dir); err != nil {
		return nil, err
	}
	return func() float64 { return 1 }, nil
}

// fill writes zeros into a folder until it is full.
func fill(dir string) error {
	f, err := os.Create(filepath.Join(dir, ".full"))
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 1<<16)
	for {
		if _, err := f.Write(block); err != nil {
			if errors.Is(err, unix.ENOSPC) {
				return nil
			}
			return err
		}
	}
}
