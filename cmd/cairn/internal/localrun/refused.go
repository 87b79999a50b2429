package localrun

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/hosts"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
)

// taken is the error for a folder in which something else is. Without -o the next folder is used.
type taken struct{ error }

func (t taken) Unwrap() error { return t.error }

// errInUse is the error for a folder that another run is writing to.
var errInUse = errors.New("another cairn run is writing to it")

// unwritable returns the error for a folder that a run cannot be written to.
func unwritable(folder string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) && (of.Path == folder || filepath.Dir(of.Path) == folder) {
		err = of.Err
	}
	return fmt.Errorf("a run cannot be written to %s (%w): name another folder with -o", folder, err)
}

// make makes the folder and those above it.
func (f *runFolder) make() error {
	var missing []string
	for at := f.path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return taken{unwritable(f.path, fmt.Errorf("%s is a file, not a folder", at))}
		case err == nil:
			return f.makeAll(missing)
		}
		if target, err := os.Readlink(at); err == nil {
			return taken{unwritable(f.path, fmt.Errorf("%s is a link to %s, which is not there", at, target))}
		}
		if at == filepath.Dir(at) {
			return unwritable(f.path, err)
		}
		missing = append(missing, at)
	}
}

// makeAll makes folders, the innermost of which is first.
func (f *runFolder) makeAll(missing []string) error {
	for _, folder := range slices.Backward(missing) {
		err := os.Mkdir(folder, 0o755)
		if info, failed := os.Stat(folder); err != nil && failed == nil && info.IsDir() {
			continue // another run has made it
		}
		if err != nil {
			return unwritable(f.path, err)
		}
		f.made = append(f.made, folder)
	}
	return nil
}

// removeMade removes the folders that were made, unless something is in them.
func (f *runFolder) removeMade() {
	for _, folder := range slices.Backward(f.made) {
		_ = os.Remove(folder)
	}
}

// othersFiles returns an error if files that are not of a run have names that a run needs.
func (f *runFolder) othersFiles() error {
	needed := func(name, why string) error {
		return taken{fmt.Errorf("%s is not of a run (%s), and a run needs a folder of this name: name another folder with -o",
			filepath.Join(f.path, name), why)}
	}
	for _, name := range []string{reportFolder, tracerFolder} {
		if info, err := os.Stat(filepath.Join(f.path, name)); err == nil && !info.IsDir() {
			return needed(name, "it is a file")
		}
	}
	entries, err := os.ReadDir(f.tracer())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(f.path, err)
	}
	for _, e := range entries {
		if !tracerroot.Made(e) && !hosts.Made(e) {
			return needed(tracerFolder, e.Name()+" is in it")
		}
	}
	return nil
}

// tryWriting writes as much as a run needs before its first record, and removes it.
func (f *runFolder) tryWriting() error {
	folders := []string{f.path}
	if reports := filepath.Join(f.path, reportFolder); exists(reports) {
		folders = append(folders, reports)
	}
	for _, folder := range folders {
		if err := tryWriting(folder); err != nil {
			return unwritable(folder, err)
		}
	}
	return nil
}

func tryWriting(folder string) error {
	const size = 64 << 10
	file, err := os.CreateTemp(folder, ".cairn-tmp-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(make([]byte, size))
	return errors.Join(err, file.Close()) // a network file system may know only when it is closed
}
