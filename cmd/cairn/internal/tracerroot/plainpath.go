package tracerroot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Plain matches paths that LD_PRELOAD and every launcher can pass on. The dynamic linker splits
// LD_PRELOAD at spaces and colons and expands words that begin with $. Launchers pass environments
// as text.
var Plain = regexp.MustCompile(`^[A-Za-z0-9/._,@%+~-]*$`)

// plainPath returns a path to folder that matches Plain: the folder's own, or that of a symbolic
// link in a temporary folder. remove removes the link.
func plainPath(folder string) (path string, remove func(), err error) {
	if Plain.MatchString(folder) {
		return folder, func() {}, nil
	}
	var failed []error
	for _, below := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if !filepath.IsAbs(below) || !Plain.MatchString(below) {
			continue
		}
		link, remove, err := linkBelow(below, folder)
		if err == nil {
			return link, remove, nil
		}
		failed = append(failed, err)
	}
	return "", nil, fmt.Errorf("the path %q has characters that cannot be in LD_PRELOAD, and no link to it could be made: %w", folder, errors.Join(failed...))
}

func linkBelow(below, folder string) (link string, remove func(), err error) {
	own, err := os.MkdirTemp(below, "cairn-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(own) }
	link = filepath.Join(own, "tracer")
	// the ranks may run as another user than this process
	if err := errors.Join(os.Chmod(own, 0o755), os.Symlink(folder, link)); err != nil {
		remove()
		return "", nil, err
	}
	return link, remove, nil
}
