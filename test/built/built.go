// Package built finds the commands of this tree for tests that run them.
package built

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/internal/repository"
)

// Folder is the environment variable with the absolute path of a folder of commands that are
// current. make test sets it after it has built them.
const Folder = "CAIRN_BIN"

// Command returns the path of a command, such as cairn. Without $CAIRN_BIN make builds it first if
// its sources have changed.
func Command(t testing.TB, name string) string {
	t.Helper()
	path, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Find is Command for a TestMain.
func Find(name string) (string, error) {
	directory := os.Getenv(Folder)
	if directory == "" {
		directory = filepath.Join(repository.Root(), "bin")
		if err := once(name); err != nil {
			return "", err
		}
	}
	if err := dependOnSources(); err != nil {
		return "", err
	}
	path := filepath.Join(directory, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w: run make build (%s=%s)", err, Folder, os.Getenv(Folder))
	}
	return path, nil
}

// dependOnSources looks at what commands are made of. go test notes which files of the
// module a test has looked at, and repeats the test instead of printing its cached result
// when their times change.
var dependOnSources = sync.OnceValue(func() error {
	return filepath.WalkDir(repository.Root(), func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "out" || name == "testdata" || name != "." && strings.HasPrefix(name, ".")):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			_, err = os.Stat(path)
		}
		return err
	})
})

var (
	mutex  sync.Mutex
	builds = map[string]error{} // by command
)

// once builds a command for all tests of this process.
func once(name string) error {
	mutex.Lock()
	defer mutex.Unlock()
	err, is := builds[name]
	if !is {
		err = build(repository.Root(), name)
		builds[name] = err
	}
	return err
}

// build runs make for a command. Of the test processes that go test runs side by side, one does so
// at a time: the first one builds, and the others find its result.
func build(root, name string) error {
	lock, err := os.Open(filepath.Join(root, "Makefile"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("%s: %w", lock.Name(), err)
	}
	command := exec.Command("make", "-s", "-C", root, "bin/"+name)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, out)
	}
	return nil
}
