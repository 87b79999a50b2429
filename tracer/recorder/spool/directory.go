package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A Directory is a process's directory, opened for reading by another process and possibly another
// user, such as the sidecar. Whatever is in it, a Directory opens nothing outside of it and only
// regular files of a size that the tracer writes, and it never blocks. Errors name files but never
// quote their content.
type Directory struct {
	// The folder that the directory is in. It stays open: times are read as long as the trace is in
	// use, possibly after Close.
	spool *os.Root
	name  string // in the folder
	root  *os.Root
	tmpfs *os.Root // its files on a tmpfs; nil: none so far
	// Remote reads what is in the store already; nil: nothing is.
	Remote Remote
	// ChaptersApart leaves chapters that are in parts out of grammars (trace.Thread.Chapters). It
	// is for writers of shards.
	ChaptersApart bool
	// Ended reports that the process has ended and writes no more to its logs. Pack then processes
	// their last files, too.
	Ended bool
}

// OpenDirectory opens a process's directory of a spool, which must stay open.
func OpenDirectory(spool *os.Root, name string) (*Directory, error) {
	root, err := plainfile.Directory(spool, name)
	if err != nil {
		return nil, err
	}
	return &Directory{spool: spool, name: name, root: root}, nil
}

// OpenPath opens a process's directory by its path. The runtime closes the folder that it is in,
// once nobody refers to it.
func OpenPath(path string) (*Directory, error) {
	spool, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return OpenDirectory(spool, filepath.Base(path))
}

// Close closes the directory.
func (d *Directory) Close() error {
	if d.tmpfs != nil {
		_ = d.tmpfs.Close()
	}
	return d.root.Close()
}

// read reads a file of at most limit bytes.
func (d *Directory) read(name string, limit int64) ([]byte, error) {
	return plainfile.Read(d.root, name, limit)
}

// open opens a file; nil if there is none.
func (d *Directory) open(name string) (*os.File, error) {
	f, _, err := d.openFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// Alive reports whether the process is alive. A process that has not taken its lock
// yet counts as dead.
//
// A process holds an fcntl write lock on the file "lock" of its directory. The kernel releases it
// when the process ends, however it ends, and shows it to every process on the node, even in
// another PID namespace. It belongs to the process and not to the open file, so children do not
// inherit it. The shim takes it (spool.c).
func (d *Directory) Alive() (bool, error) {
	f, err := d.open(lockFile)
	if f == nil || err != nil {
		return false, err
	}
	defer f.Close()
	holder, err := holderOf(f)
	return holder != nobody, err
}

// LaterModules returns the modules that the process loaded after MPI_Init, and called MPI from or
// passed functions of to MPI.
func (d *Directory) LaterModules() []record.Module {
	f, err := d.open(record.DictionaryFile)
	if f == nil || err != nil {
		return nil
	}
	defer f.Close()
	var entries record.Dictionary
	entries.Follow(f)
	return entries.Modules
}

// Recover makes the trace of a process that has ended, from its last checkpoint and the buffers
// since. It only reads, so it can be repeated.
func (d *Directory) Recover() (*trace.Content, *Report, error) {
	content, report, _, err := d.recoverAt(true)
	return content, report, err
}

// Snapshot makes the trace of a living process so far, from its last checkpoint and the readable
// part of the buffers since.
func (d *Directory) Snapshot() (*trace.Content, *Report, error) {
	const tries = 5
	var err error
	for try := 0; try < tries && !errors.Is(err, plainfile.ErrOdd); try++ {
		content, report, before, failed := d.recoverAt(false)
		if err = failed; err != nil {
			continue // for example because both state files were rewritten while they were read
		}
		// The records of a checkpoint during the reading may be in no buffer any more.
		if state, _, err := d.readState(); err == nil && before == state.Number {
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
	copiesPrefix = "copies-" // begins the name of a file with copies of slots of the ring (spool.c)
	oncePrefix   = "once-"   // the same of those with one that it does not use again (buffers.c)
)

// ringFiles have the buffers that the process uses again, the second one those for which there was
// no room on a tmpfs (spool.c).
var ringFiles = []string{"ring-0.seg", "ring-1.seg"}

// maxProcessJSON is the limit for process.json: a few hundred constants, some hundred modules.
const maxProcessJSON = 16 << 20

// errNotProcess describes an invalid process.json without quoting it, since it may not be
// the tracer's file.
var errNotProcess = errors.New("it is not the tracer's description of a process")

// Process reads process.json.
func (d *Directory) Process() (*record.Process, error) {
	b, err := d.read(processFile, maxProcessJSON)
	if err != nil {
		return nil, err
	}
	p, err := record.ParseProcess(b)
	if err != nil {
		if !errors.Is(err, record.ErrFormat) {
			err = errNotProcess
		}
		return nil, fmt.Errorf("%s: %w", processFile, err)
	}
	return p, nil
}
