package localrun

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-mpi/cairn/tracer/settings"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// A tracerRoot is the tracer's folder for one run.
type tracerRoot struct {
	path        string   // CAIRN_ROOT
	environment []string // variables for the command, in addition to those of this process
	remove      func()   // removes files outside the folder
}

// Names in the tracer's folder.
const (
	librariesLink = "lib"
	configFile    = "config.json"
	spoolFolder   = "spool"
)

// newTracerRoot creates a tracer root in the run's folder: a link to the libraries, the
// configuration and an empty spool. The libraries for both MPIs are preloaded; the one for the
// other MPI passes calls through.
func newTracerRoot(folder *runFolder, libraries string, config settings.Settings) (*tracerRoot, error) {
	if err := os.MkdirAll(folder.spool(), 0o755); err != nil {
		return nil, err
	}
	// the ranks may run as another user; the sticky bit needs a chmod because of the umask
	if err := os.Chmod(folder.spool(), 0o777|os.ModeSticky); err != nil {
		return nil, err
	}
	dir := folder.tracer()
	if err := os.Symlink(libraries, filepath.Join(dir, librariesLink)); err != nil {
		return nil, err
	}
	path, removeLink, err := plainPath(dir)
	if err != nil {
		return nil, err
	}
	removeBuffers := makeBufferFolder(folder.spool())
	held := lockFolder(folder.spool()) // a sidecar that is started on it waits (shipper, lock.go)
	remove := func() { removeLink(); removeBuffers(); held.Close() }
	root := &tracerRoot{path: path, environment: []string{"LD_PRELOAD=" + preload(path, config.Pointers), "CAIRN_ROOT=" + path}, remove: remove}
	config.Spool, config.Enabled = filepath.Join(path, spoolFolder), true
	raw, err := json.Marshal(config)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, configFile), raw, 0o644)
	}
	if err != nil {
		remove()
		return nil, err
	}
	return root, nil
}

// tracerLibraries returns the folder with the tracer's libraries.
func tracerLibraries() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return setup.FindLibraries(self)
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
