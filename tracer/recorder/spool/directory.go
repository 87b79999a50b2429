package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A Directory is a process's directory, opened for reading by somebody else: the sidecar, as another user. Whatever lies
// in it, nothing outside it is opened, nothing but regular files of a size that the tracer writes, and nothing waits.
// Errors name files, and never their content.
type Directory struct {
	root   *os.Root
	reopen func() (*os.Root, error)
	// Remote reads what is in the store already; nil: nothing is.
	Remote Remote
	// ChaptersApart leaves chapters that are in parts out of grammars (trace.Thread.Chapters): for who only writes shards.
	ChaptersApart bool
	// Ended says that the process has ended: nothing more is written to its logs, so that Pack takes their last files, too.
	Ended bool
}

// OpenDirectory opens a process's directory of a spool.
func OpenDirectory(spool *os.Root, name string) (*Directory, error) {
	return openDirectory(func() (*os.Root, error) { return plainfile.Directory(spool, name) })
}

// openPath opens a directory by its path.
func openPath(dir string) (*Directory, error) {
	return openDirectory(func() (*os.Root, error) { return os.OpenRoot(dir) })
}

func openDirectory(open func() (*os.Root, error)) (*Directory, error) {
	root, err := open()
	if err != nil {
		return nil, err
	}
	return &Directory{root: root, reopen: open}, nil
}

// again opens the directory once more: times are read for as long as the trace is in use, and this one may be closed then.
func (d *Directory) again() (*Directory, error) { return openDirectory(d.reopen) }

// Close closes the directory.
func (d *Directory) Close() error { return d.root.Close() }

// read reads a file of at most limit bytes.
func (d *Directory) read(name string, limit int64) ([]byte, error) {
	return plainfile.Read(d.root, name, limit)
}

// open opens a file; nil if there is none.
func (d *Directory) open(name string) (*os.File, error) {
	f, err := plainfile.Open(d.root, name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// buffers are the names of the buffer files. A directory that cannot be read is an error, and not an empty one.
func (d *Directory) buffers() ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), bufferSuffix) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Alive reports whether the process still lives. A process that has not got to taking its lock yet counts as dead.
func (d *Directory) Alive() (bool, error) {
	f, err := d.open(lockFile)
	if f == nil || err != nil {
		return false, err
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: unix.SEEK_SET}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return false, err
	}
	return lock.Type != unix.F_UNLCK, nil
}

// LaterModules are the modules that the process loaded after MPI_Init and called MPI from.
func (d *Directory) LaterModules() []record.Module {
	f, err := d.open(record.DictionaryFile)
	if f == nil || err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > record.MaxDictionary {
		return nil
	}
	var entries record.Dictionary
	entries.Read(f)
	return entries.Modules
}

// Recover finishes what the process left, from its last checkpoint and the buffers since. It only reads, so that it can
// be repeated.
func (d *Directory) Recover() (*trace.Content, *Report, error) {
	content, report, _, err := d.recoverAt(true)
	return content, report, err
}

// Snapshot is the trace of a living process so far: its last checkpoint and what can be read of the buffers since.
func (d *Directory) Snapshot() (*trace.Content, *Report, error) {
	const tries = 5
	var err error
	for range tries {
		var content *trace.Content
		var report *Report
		var before, after uint64
		content, report, before, err = d.recoverAt(false)
		if err != nil {
			if errors.Is(err, plainfile.ErrOdd) {
				break
			}
			continue // as when both files of the state were written while we read them
		}
		// A checkpoint in between means that buffers were reused while we read them.
		if _, after, _, err = d.readState(); err == nil && before == after {
			return content, report, nil
		}
	}
	if err == nil {
		err = errors.New("the process checkpoints faster than it can be read")
	}
	return nil, nil, err
}

// Names of the files of a process directory.
const (
	processFile  = "process.json"
	lockFile     = "lock"
	bufferSuffix = ".seg"
	shimBuffer   = "first-%d.seg" // of those that the shim makes (spool.c)
)

// maxProcessJSON bounds process.json: a few hundred constants, some hundred modules.
const maxProcessJSON = 16 << 20

// ReadProcess reads process.json of a process directory.
func ReadProcess(dir string) (*record.Process, error) {
	d, err := openPath(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Process()
}

// errNotProcess says what is wrong with process.json and nothing of what is in it: it may not be the tracer's.
var errNotProcess = errors.New("it does not describe a process as the tracer does")

// Process reads process.json.
func (d *Directory) Process() (*record.Process, error) {
	b, err := d.read(processFile, maxProcessJSON)
	if err != nil {
		return nil, err
	}
	p, err := record.ParseProcess(b)
	switch {
	case errors.Is(err, record.ErrFormat):
		return nil, fmt.Errorf("%s: %w", processFile, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", processFile, errNotProcess)
	}
	return p, nil
}

// A process holds an fcntl write lock on the file "lock" of its directory. The kernel gives it back when the process is
// gone, whatever became of it, and tells everybody on the node, also in another PID namespace. It is a lock of the
// process (not of the open file), so that children do not keep it. The shim takes it (spool.c).

// Alive reports whether the process of a process directory still lives (Directory.Alive).
func Alive(dir string) (bool, error) {
	d, err := openPath(dir)
	if err != nil {
		return false, err
	}
	defer d.Close()
	return d.Alive()
}
