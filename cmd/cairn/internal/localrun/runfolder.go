package localrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/hosts"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/store"
)

// defaultRunFolder is the folder of runs without -o. The second run uses cairn-out-2, and so on.
const defaultRunFolder = "cairn-out"

// A runFolder is the folder for the trace and report of one `cairn run`. While it is open, no other
// run writes there.
type runFolder struct {
	path string   // absolute
	made []string // those of it and the folders above that did not exist before, outermost first
	held *os.File
	// merged: all records are in traces, so that the spool is not needed any more
	merged bool
}

// Names below a run's folder.
const (
	reportFolder = "report"
	tracerFolder = "tracer" // the tracer's root while the program runs, with the spool
)

// newRunFolder opens the folder with the given name or, for "", the first default one that no run
// has used. A folder with an earlier run is refused unless replace is true. In that case the
// earlier run stays until clear is called.
func newRunFolder(name string, replace bool) (*runFolder, error) {
	if name != "" {
		return openRunFolder(name, replace)
	}
	for n := 1; ; n++ {
		name := defaultRunFolder
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		f, err := openRunFolder(name, replace)
		if !errors.As(err, new(taken)) {
			return f, err
		}
	}
}

func openRunFolder(name string, replace bool) (*runFolder, error) {
	if store.IsRemote(name) {
		return nil, cli.UsageError(fmt.Errorf("-o %s: a run is written to a local folder; 'cairn copy DIR %s' copies it to a bucket later", name, name))
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	f := &runFolder{path: path}
	if err := f.open(replace); err != nil {
		f.removeMade()
		f.Close()
		return nil, cli.UsageError(err)
	}
	return f, nil
}

// open makes the folder, and refuses one that is in use or cannot be written to. What is in it
// stays as it is.
func (f *runFolder) open(replace bool) error {
	if err := f.make(); err != nil {
		return err
	}
	if err := f.lock(); err != nil {
		return err
	}
	if err := f.othersFiles(); err != nil {
		return err
	}
	if found := f.earlier(); len(found) > 0 && !replace {
		return taken{fmt.Errorf("%s has an earlier run in it (%s): name another folder with -o, or replace that run with --force", f.path, found[0])}
	}
	return f.tryWriting()
}

// lock keeps other runs out. On file systems without locks on folders it has no effect.
func (f *runFolder) lock() error {
	folder, err := os.Open(f.path)
	if err != nil {
		return unwritable(f.path, err)
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		folder.Close()
		return taken{fmt.Errorf("%s: %w: name another folder with -o", f.path, errInUse)}
	}
	f.held = folder
	return nil
}

// Close lets other runs use the folder.
func (f *runFolder) Close() {
	if f.held != nil {
		f.held.Close()
	}
}

func (f *runFolder) tracer() string { return filepath.Join(f.path, tracerFolder) }

func (f *runFolder) spool() string { return tracerroot.Spool(f.tracer()) }

// earlier lists the names of files that earlier runs left in the folder. Other files do not belong
// to Cairn and stay.
func (f *runFolder) earlier() []string {
	folders := []string{""}
	entries, _ := os.ReadDir(f.path)
	for _, e := range entries {
		if e.IsDir() && shipper.ManyWorlds.MatchString(e.Name()) {
			folders = append(folders, e.Name())
		}
	}
	var found []string
	for _, folder := range folders {
		names := []string{shipper.TraceFile, tracefile.ClockFile, hosts.HostsFile}
		for _, name := range report.FileNames {
			names = append(names, filepath.Join(reportFolder, name))
		}
		for _, name := range names {
			if name = filepath.Join(folder, name); exists(filepath.Join(f.path, name)) {
				found = append(found, name)
			}
		}
	}
	if f.recorded() || hosts.Marked(f.path) {
		found = append(found, tracerFolder)
	}
	return found
}

// recorded reports whether any rank has recorded something in the spool.
func (f *runFolder) recorded() bool {
	entries, _ := os.ReadDir(f.spool())
	for _, e := range entries {
		if e.IsDir() && e.Name() != "symbols" && !strings.HasPrefix(e.Name(), ".") {
			return true
		}
	}
	return false
}

// clear removes what earlier runs left, and their folders if they are empty then.
func (f *runFolder) clear() error {
	found := f.earlier()
	for _, name := range found {
		if name == tracerFolder {
			continue
		}
		if err := os.Remove(filepath.Join(f.path, name)); err != nil {
			return err
		}
	}
	for _, name := range found {
		for at := filepath.Dir(name); at != "."; at = filepath.Dir(at) {
			_ = os.Remove(filepath.Join(f.path, at)) // fails, as intended, if other files are in it
		}
	}
	tracerroot.RemoveBuffers(f.spool())
	return os.RemoveAll(f.tracer())
}

// leave removes the tracer and the spool if all records are in traces, and what a run without a
// single record created, so that the next run finds the folder unchanged.
func (f *runFolder) leave() {
	if f.recorded() && !f.merged || hosts.Waiting(f.path) {
		return
	}
	tracerroot.RemoveBuffers(f.spool())
	_ = os.RemoveAll(f.tracer())
	f.removeMade()
}
