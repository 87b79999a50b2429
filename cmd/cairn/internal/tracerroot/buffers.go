package tracerroot

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// sharedMemory is a tmpfs on every Linux. XDG_RUNTIME_DIR is one, too, but small.
const sharedMemory = "/dev/shm"

// Folders for buffers stay for a day after a process that was killed: what they have may be
// finished later.
const (
	bufferFolder = "cairn-buffers-"
	keptFor      = 24 * time.Hour
)

// makeBufferFolder makes a folder on a tmpfs for the ranks' record buffers, with the link to it
// that a spool has. Without it the buffers are in the spool, so that errors are not reported. The
// folder is locked while this process lives: what runs that were killed have left is removed here,
// after a day.
func makeBufferFolder(spoolFolder string) (remove func()) {
	removeLeftBuffers(sharedMemory)
	none := func() {}
	link := filepath.Join(spoolFolder, spool.TmpfsLink)
	if folder, err := os.Readlink(link); err == nil { // of a compressor that was killed
		if held := lockFolder(folder); held != nil {
			return func() { os.RemoveAll(folder); held.Close() }
		}
		return none
	}
	folder, err := os.MkdirTemp(sharedMemory, bufferFolder)
	if err != nil {
		return none
	}
	held := lockFolder(folder)
	remove = func() {
		os.RemoveAll(folder)
		held.Close() // nil: an error
	}
	if held == nil || os.Symlink(folder, link) != nil {
		remove()
		return none
	}
	return remove
}

// RemoveBuffers removes the folder of a spool on the tmpfs, if it is one of this user's.
func RemoveBuffers(spoolFolder string) {
	folder, err := os.Readlink(filepath.Join(spoolFolder, spool.TmpfsLink))
	if err == nil && filepath.Dir(folder) == sharedMemory && strings.HasPrefix(filepath.Base(folder), bufferFolder) && isOwn(folder) {
		os.RemoveAll(folder)
	}
}

// isOwn reports whether a folder is this user's, and no link.
func isOwn(folder string) bool {
	info, err := os.Lstat(folder)
	return err == nil && info.IsDir() && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid()
}

// lockFolder locks a folder; nil if another process has it, or there is none.
func lockFolder(path string) *os.File {
	folder, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	if unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		folder.Close()
		return nil
	}
	return folder
}

// removeLeftBuffers removes the folders of this user that no run has locked for a day.
func removeLeftBuffers(below string) {
	folders, _ := filepath.Glob(filepath.Join(below, bufferFolder+"*"))
	for _, folder := range folders {
		if info, err := os.Lstat(folder); err != nil || !isOwn(folder) || time.Since(info.ModTime()) < keptFor {
			continue
		}
		if held := lockFolder(folder); held != nil {
			os.RemoveAll(folder)
			held.Close()
		}
	}
}
