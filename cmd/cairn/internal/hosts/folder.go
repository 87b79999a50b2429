package hosts

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// A Run is a start of a program under `cairn exec`, on all hosts.
type Run struct {
	ID string `json:"id"` // the job, or what `cairn run` chose
	// Out is the run's folder as each host sees it: hosts may share it, or have one each.
	Out      string            `json:"out"`
	Settings settings.Settings `json:"settings"`
	// Collected reports that `cairn run` collects the parts of the hosts and makes the trace.
	Collected bool `json:"collected"`
	Size      int  `json:"size"`  // number of tasks, or unknown
	Local     int  `json:"local"` // number of tasks on this host, or unknown
	// Command is that of the host's first task, with absolute paths. Parts do not have it.
	Command []string `json:"command,omitempty"`
}

// Names in the folder of a host.
const (
	runFile    = "run.json"
	lockFile   = "lock"
	socketFile = "socket"
	logFile    = "log"
	tasksFile  = "tasks" // ranks, or unknown
)

// A folder is what a host has of a run: tracer and spool, and the lock of the compressor.
type folder string

// parents are the folders in which those of users are. The user's own choice is preferred, since a
// node's /tmp may be small.
func parents() (found []string) {
	for _, path := range []string{os.Getenv("TMPDIR"), "/tmp", "/var/tmp"} {
		if filepath.IsAbs(path) && tracerroot.Plain.MatchString(path) {
			found = append(found, path)
		}
	}
	return found
}

func ofUser(parent string) string { return filepath.Join(parent, "cairn-"+strconv.Itoa(os.Getuid())) }

// checkOwn returns an error for a folder of another user, or one that others may look into: the
// folder above belongs to everybody.
func checkOwn(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not this user's folder, or others may look into it", path)
	}
	return nil
}

// name is that of the run's folder on this host. Hosts may share the folder above.
func (r *Run) name() string { return digest(r.ID, r.Out, hostname()) }

// makeFolder makes the folder of a run on this host, or finds it.
func makeFolder(run *Run) (folder, error) {
	var failed []error
	for _, parent := range parents() {
		own := ofUser(parent)
		err := os.Mkdir(own, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			failed = append(failed, err)
			continue
		}
		f := folder(filepath.Join(own, run.name()))
		if err = checkOwn(own); err == nil {
			err = os.Mkdir(string(f), 0o755)
		}
		if err == nil || errors.Is(err, fs.ErrExist) {
			return f, nil
		}
		failed = append(failed, err)
	}
	return "", errors.Join(failed...)
}

// foldersOf returns the folders on this host of the runs for which wanted is true.
func foldersOf(wanted func(*Run) bool) (found []folder) {
	for _, parent := range parents() {
		own := ofUser(parent)
		if checkOwn(own) != nil {
			continue
		}
		paths, _ := filepath.Glob(filepath.Join(own, "*", runFile))
		for _, path := range paths {
			f := folder(filepath.Dir(path))
			if run, err := f.run(); err == nil && filepath.Base(string(f)) == run.name() && wanted(run) {
				found = append(found, f)
			}
		}
	}
	return found
}

// remove removes the folder, at once: tasks may be about to come to it, and have one of their own
// then.
func (f folder) remove() error {
	gone := filepath.Join(filepath.Dir(string(f)), ".removed-"+rand.Text())
	if err := os.Rename(string(f), gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

func (f folder) spool() string { return tracerroot.Spool(string(f)) }

// run reads the run of the folder.
func (f folder) run() (*Run, error) {
	raw, err := os.ReadFile(f.path(runFile))
	if err != nil {
		return nil, err
	}
	run := new(Run)
	return run, json.Unmarshal(raw, run)
}

// addTask and tasks keep the ranks of the tasks that have come, for whoever packs what a compressor
// that was killed has left.
func (f folder) addTask(rank int) {
	if file, err := os.OpenFile(f.path(tasksFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err == nil {
		fmt.Fprintln(file, rank)
		file.Close()
	}
}

func (f folder) tasks() (ranks []int) {
	raw, _ := os.ReadFile(f.path(tasksFile))
	for _, word := range strings.Fields(string(raw)) {
		if rank, err := strconv.Atoi(word); err == nil {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// lock returns the lock of the folder, or nil if another process has it. It is that of an open
// file, so it passes to the compressor with the file.
func (f folder) lock() (*os.File, error) {
	held, err := os.OpenFile(f.path(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		held.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = nil
		}
		return nil, err
	}
	// whoever had it may have removed the folder
	ours, err := held.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Stat(f.path(lockFile)); err == nil && os.SameFile(ours, there) {
			return held, nil
		}
	}
	held.Close()
	return nil, err
}

// ErrRunning is the error for a host on which tasks still run, or what they recorded is being
// written.
var ErrRunning = errors.New("tasks of the run still run on this host")

// await waits for the lock, which ends when the folder is gone: it returns nil then.
func (f folder) await(limit time.Duration) (*os.File, error) {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		held, err := f.lock()
		switch {
		case held != nil:
			return held, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case time.Now().After(deadline):
			return nil, ErrRunning
		}
	}
}
