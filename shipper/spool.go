package shipper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/resolver"
)

// A process is one directory of the spool.
type process struct {
	identity
	name     string // of the directory
	dir      string
	launchID string
	alive    bool
	rank     string   // assigned by the launcher; "": unknown
	modules  []string // paths of its binaries
	spool    *os.Root
	remote   spool.Remote // reads what is in the store already
	apart    bool         // keep chapters in their parts: a shard is being made
}

// identity is unique among all processes in the spool and in the store.
type identity struct {
	hostname string
	pid      int
	start    int64 // realtime in ns
}

// A scanner reads a spool, a directory of process directories. It reads what never changes once.
// Ranks run as other users and may put anything there. So everything is opened below the spool's
// own directory, and only as the expected type of file (plainfile, spool.Directory).
type scanner struct {
	dir      string
	root     *os.Root // nil: not opened yet
	known    map[string]*process
	broken   map[string]string // unreadable directories, with the reason
	unread   bool              // the system could not read some of them, which may be temporary
	starting int               // running processes without a description so far
	remote   spool.Remote
	apart    bool
	release  func(directory string) // called with every process that has ended
}

func newScanner(dir string) *scanner {
	return &scanner{dir: dir, release: func(string) {}, known: map[string]*process{}, broken: map[string]string{}}
}

// scan lists the processes, sorted by directory.
func (s *scanner) scan() ([]process, error) {
	if s.root == nil {
		root, err := os.OpenRoot(s.dir)
		if err != nil {
			return nil, err
		}
		s.root = root
	}
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	clear(s.broken)
	s.unread = false
	s.starting = 0
	there := map[string]bool{}
	var processes []process
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || name == resolver.Directory || strings.HasPrefix(name, ".") {
			continue
		}
		there[name] = true
		switch p, err := s.read(name); {
		case err != nil:
			s.broken[name] = err.Error()
			s.unread = s.unread || isOfReading(err)
		case p != nil:
			processes = append(processes, *p)
		}
	}
	for name := range s.known {
		if !there[name] {
			delete(s.known, name)
		}
	}
	return processes, nil
}

// read returns the current state of a process; nil if the directory is not one, or not yet.
func (s *scanner) read(name string) (*process, error) {
	d, err := spool.OpenDirectory(s.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	alive, err := d.Alive()
	if errors.Is(err, plainfile.ErrOdd) {
		return nil, err
	}
	// an unknown state counts as running: nothing is removed then
	alive = alive || err != nil
	if !alive {
		s.release(name)
	}
	p := s.known[name]
	if p == nil {
		description, err := d.Process()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if alive {
				s.starting++
			}
			return nil, nil
		case err != nil:
			return nil, err
		}
		p = s.describe(name, description)
		s.known[name] = p
	}
	now := *p
	now.alive = alive
	return &now, nil
}

func (s *scanner) describe(name string, d *record.Process) *process {
	p := &process{
		identity: identity{hostname: d.Hostname, pid: d.PID, start: d.StartRealtimeNS},
		name:     name, dir: filepath.Join(s.dir, name), launchID: d.LaunchID, spool: s.root, remote: s.remote, apart: s.apart,
	}
	if p.launchID == "" {
		p.launchID = name
	}
	for _, variable := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"} {
		if _, err := strconv.ParseUint(d.Environment[variable], 10, 31); err == nil {
			p.rank = d.Environment[variable]
			break
		}
	}
	for _, m := range d.Modules {
		p.modules = append(p.modules, m.Path)
	}
	return p
}

// problems describes what cannot be read.
func (s *scanner) problems() []string {
	var problems []string
	for name, why := range s.broken {
		problems = append(problems, fmt.Sprintf("process %s cannot be read: %s", name, why))
	}
	slices.Sort(problems)
	return problems
}

// title names a process, with its rank if known.
func (p process) title() string {
	if p.rank == "" {
		return "process " + p.name
	}
	return fmt.Sprintf("rank %s of world %s (process %s)", p.rank, worldID(p.launchID), p.name)
}

// A recovered process is its trace, or the reason why there is none.
type recovered struct {
	process    process
	content    *trace.Content
	problem    string
	unrecorded string // non-empty: it made calls, but none was recorded
	unusable   bool   // it left unusable data
	unread     bool   // the system could not read it, which may be temporary
	modules    []record.Module
	parts      []spool.Part // parts with times of content
	memory     int64        // approximate memory of content while it is merged
}

// open opens the directory of a process.
func (p process) open() (*spool.Directory, error) {
	d, err := spool.OpenDirectory(p.spool, p.name)
	if err == nil {
		d.Remote = p.remote
	}
	return d, err
}

// recover makes the trace of a process: all of it if it has ended, otherwise up to now. Invalid
// data never ends the sidecar.
func (p process) recover() (r recovered) {
	cannot := func(err error) recovered {
		return recovered{process: p, unusable: true, unread: isOfReading(err), problem: fmt.Sprintf("process %s cannot be recovered: %v", p.name, err)}
	}
	defer func() {
		if failed := recover(); failed != nil {
			r = cannot(errors.New("the recorder failed on it"))
		}
	}()
	d, err := p.open()
	if err != nil {
		return cannot(err)
	}
	defer d.Close()
	d.ChaptersApart = p.apart
	finish := d.Recover
	if p.alive {
		finish = d.Snapshot
	}
	content, report, err := finish()
	switch {
	case err != nil:
		return cannot(err)
	case report.Calls == 0 && report.Lost > 0:
		line := fmt.Sprintf("%s: none of its %d calls is known: its tracer found no room in the spool, or could not start or write", p.title(), report.Lost)
		r = recovered{process: p, unrecorded: line}
		if !p.alive {
			r.problem = line
		}
		return r
	case report.Calls == 0 && p.alive:
		return recovered{process: p}
	case report.Calls == 0:
		return recovered{process: p, problem: fmt.Sprintf("process %s left no call: it ended %s, or its tracer could not write", p.name, report.EndedEarly)}
	}
	r = recovered{process: p, content: content, modules: d.LaterModules(), parts: report.Parts, memory: report.Memory}
	if p.alive {
		content.Ranks.Change(0, func(r *trace.Rank) { r.EndedEarly = merger.Running })
	}
	return r
}

// isOfReading reports whether an error is the system's, such as that of a disk or a lack of memory,
// rather than one of the data.
func isOfReading(err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}
