package shipper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder"
)

// A process is one directory of the spool.
type process struct {
	name     string // of the directory
	dir      string
	launchID string
	alive    bool
	modules  []string // paths of its binaries

	// what tells it from all others
	hostname string
	pid      int
	start    int64 // realtime in ns
}

// A spool is a directory of process directories. What of a process never
// changes is read once.
type spool struct {
	dir    string
	known  map[string]*process
	broken map[string]string // directories that cannot be read, with the reason
}

func newSpool(dir string) *spool {
	return &spool{dir: dir, known: map[string]*process{}, broken: map[string]string{}}
}

// scan lists the processes, sorted by directory.
func (s *spool) scan() ([]process, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var processes []process
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || name == symbolsDirectory || strings.HasPrefix(name, ".") {
			continue
		}
		p, err := s.read(name)
		if err != nil {
			s.broken[name] = err.Error()
			continue
		}
		if p == nil {
			continue
		}
		delete(s.broken, name)
		now := *p
		if now.alive, err = recorder.Alive(p.dir); err != nil {
			// without an answer it counts as gone: recovery changes nothing in the spool
			now.alive = false
		}
		processes = append(processes, now)
	}
	return processes, nil
}

// read gives a process, nil for a directory that is none or not yet.
func (s *spool) read(name string) (*process, error) {
	if p := s.known[name]; p != nil {
		return p, nil
	}
	dir := filepath.Join(s.dir, name)
	description, err := recorder.ReadProcess(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &process{name: name, dir: dir, launchID: description.LaunchID,
		hostname: description.Hostname, pid: description.PID, start: description.StartRealtimeNS}
	if p.launchID == "" {
		p.launchID = name
	}
	for _, m := range description.Modules {
		p.modules = append(p.modules, m.Path)
	}
	s.known[name] = p
	return p, nil
}

// problems names what cannot be read.
func (s *spool) problems() []string {
	var problems []string
	for name, why := range s.broken {
		problems = append(problems, fmt.Sprintf("process %s cannot be read: %s", name, why))
	}
	slices.Sort(problems)
	return problems
}

// A recovered process is its trace, or the reason why there is none.
type recovered struct {
	process process
	content *trace.Content
	problem string
}

// recover makes the trace of a process: all of it when it has ended, as far as
// it has got when it lives.
func (p process) recover() recovered {
	finish := recorder.Recover
	if p.alive {
		finish = recorder.Snapshot
	}
	content, report, err := finish(p.dir)
	switch {
	case err != nil:
		return recovered{process: p, problem: fmt.Sprintf("process %s cannot be recovered: %v", p.name, err)}
	case report.Calls == 0 && p.alive:
		return recovered{process: p}
	case report.Calls == 0:
		return recovered{process: p, problem: fmt.Sprintf("process %s left no call: it ended %s, or its tracer could not write", p.name, report.EndedEarly)}
	}
	r := recovered{process: p, content: content}
	if report.Lost > 0 {
		r.problem = fmt.Sprintf("rank %d: %d calls are lost", report.Rank, report.Lost)
	}
	if p.alive {
		content.Ranks.Change(0, func(r *trace.Rank) { r.EndedEarly = merger.Running })
	}
	return r
}
