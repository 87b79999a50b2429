package hosts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names in the folder of a run.
const (
	tracerFolder = "tracer"
	partsFolder  = "parts"
	markFile     = "run"
	election     = "finishing"
	traceFile    = "trace.cairn"

	unfinishedMark = ".run-" // while it is written
)

// partsOf returns the folder for the parts of hosts in that of a run.
func partsOf(out string) string { return filepath.Join(out, tracerFolder, partsFolder) }

// election is the folder that the one makes which finishes the run.
func (r *Run) election() string { return filepath.Join(r.Out, tracerFolder, election) }

func (r *Run) mark() string { return filepath.Join(r.Out, tracerFolder, markFile) }

// Mark writes the run's name to its folder, by which hosts know that they see it, unless there is
// one.
func (r *Run) Mark() error {
	if err := os.MkdirAll(partsOf(r.Out), 0o755); err != nil {
		return err
	}
	own, err := os.CreateTemp(filepath.Dir(r.mark()), unfinishedMark)
	if err != nil {
		return err
	}
	defer os.Remove(own.Name())
	_, err = own.WriteString(r.ID)
	if err = errors.Join(err, own.Close()); err != nil {
		return err
	}
	// several hosts may do this at the same time
	if err := os.Link(own.Name(), r.mark()); err != nil && !errors.Is(err, fs.ErrExist) {
		return r.markWithoutLinks()
	}
	return nil
}

// markWithoutLinks does the same on a file system that has no links.
func (r *Run) markWithoutLinks() error {
	mark, err := os.OpenFile(r.mark(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = mark.WriteString(r.ID)
	return errors.Join(err, mark.Close())
}

// Marked reports whether the parts of a run are, or will be, in its folder.
func Marked(out string) bool { return exists((&Run{Out: out}).mark()) }

// Made reports whether this package makes such an entry beside a tracer's root.
func Made(e fs.DirEntry) bool {
	return e.IsDir() && (e.Name() == partsFolder || e.Name() == election) || e.Type().IsRegular() && (e.Name() == markFile || strings.HasPrefix(e.Name(), unfinishedMark))
}

// sees reports whether this host sees the run's folder.
func (r *Run) sees() bool {
	id, err := os.ReadFile(r.mark())
	for range 10 {
		if err != nil || len(id) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond) // without links it is empty for a moment
		id, err = os.ReadFile(r.mark())
	}
	return err == nil && string(id) == r.ID
}
