package tracerroot

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-mpi/cairn/tracer/settings"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// A Root is a tracer's folder: its libraries, its configuration and a spool.
type Root struct {
	Path        string   // CAIRN_ROOT
	Environment []string // variables for the traced processes
	Remove      func()   // removes files outside the folder
}

// Names in the folder.
const (
	librariesLink = "lib"
	configFile    = "config.json"
	spoolFolder   = "spool"
)

// Made reports whether New makes such an entry.
func Made(e fs.DirEntry) bool {
	switch e.Name() {
	case librariesLink:
		return e.Type() == fs.ModeSymlink
	case configFile, spoolFolder:
		return true
	}
	return false
}

// Spool returns the spool of the root in a folder.
func Spool(folder string) string { return filepath.Join(folder, spoolFolder) }

// New makes a root in a folder, with an empty spool or the one that is there. The libraries for
// both MPIs are preloaded; the one for the other MPI passes calls through. If this process is
// killed, what is on the tmpfs stays for a day.
func New(folder string, config settings.Settings) (*Root, error) {
	libraries, err := FindLibraries()
	if err != nil {
		return nil, err
	}
	spool := Spool(folder)
	if err := os.MkdirAll(spool, 0o755); err != nil {
		return nil, err
	}
	// the ranks may run as another user; the sticky bit needs a chmod because of the umask
	if err := os.Chmod(spool, 0o777|os.ModeSticky); err != nil {
		return nil, err
	}
	if err := os.Symlink(libraries, filepath.Join(folder, librariesLink)); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	path, removeLink, err := plainPath(folder)
	if err != nil {
		return nil, err
	}
	removeBuffers := makeBufferFolder(spool)
	held := lockFolder(spool) // a sidecar that is started on it waits (shipper, lock.go)
	remove := func() { removeLink(); removeBuffers(); held.Close() }
	config.Spool, config.Enabled = Spool(path), true
	raw, err := json.Marshal(config)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, configFile), raw, 0o644)
	}
	if err != nil {
		remove()
		return nil, err
	}
	return &Root{Path: path, Environment: Environment(path, config), Remove: remove}, nil
}

// FindLibraries returns the folder with the tracer's libraries.
func FindLibraries() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return setup.FindLibraries(self)
}

// Environment returns the variables that have a process traced with the root at a plain path.
func Environment(path string, config settings.Settings) []string {
	return []string{"LD_PRELOAD=" + preload(path, config.Pointers), "CAIRN_ROOT=" + path}
}

// Inherited reports whether this process's environment has a tracer that works.
func Inherited() bool {
	root := os.Getenv("CAIRN_ROOT")
	return root != "" && exists(filepath.Join(root, configFile)) && strings.Contains(os.Getenv("LD_PRELOAD"), root+"/")
}

// preload returns the value of LD_PRELOAD for the tracer at root.
func preload(root string, pointers bool) string {
	var libraries []string
	if before := os.Getenv("LD_PRELOAD"); before != "" {
		libraries = append(libraries, before)
	}
	for _, abi := range []setup.ABI{setup.OpenMPI, setup.MPICH} {
		// a library that was not built is left out: the dynamic linker would complain in every
		// process
		if shim := filepath.Join(root, librariesLink, setup.Shim(abi)); exists(shim) {
			libraries = append(libraries, shim)
		}
	}
	if pointers {
		libraries = append(libraries, filepath.Join(root, librariesLink, setup.AllocationsLibrary))
	}
	return strings.Join(libraries, ":")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
