package network

import (
	"os"
	"path/filepath"
)

// A Site is a network of isolated hosts that see the same files, except for some folders: each host
// has its own Dir/tmp, Dir/private and /dev/shm.
type Site struct {
	*Network
	Dir string
}

// PrivateFolders are the names of the folders in a site's that each host has for itself.
var PrivateFolders = []string{"tmp", "private"}

// NewSite makes a site in a folder. Extra are files or folders that each host sees in the place of
// others. The first host is isolated only if all are to be: programs on it that start others by
// means of an agent need this machine's processes.
func NewSite(dir string, hosts int, all bool, extra map[string]string) (*Site, error) {
	n, err := New(hosts, Link{})
	if err != nil {
		return nil, err
	}
	s := &Site{Network: n, Dir: dir}
	for _, name := range PrivateFolders {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			return nil, err
		}
	}
	for i, h := range n.Hosts {
		if i == 0 && !all {
			continue
		}
		if err := s.isolate(h, extra); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *Site) isolate(h *Host, extra map[string]string) (err error) {
	if h.memory, err = os.MkdirTemp("/dev/shm", "cairn-test-"); err != nil {
		return err
	}
	private := map[string]string{"/dev/shm": h.memory}
	for place, folder := range extra {
		private[place] = folder
	}
	for _, name := range PrivateFolders {
		private[filepath.Join(s.Dir, name)] = s.Of(h, name)
	}
	for _, folder := range private {
		if err := os.MkdirAll(folder, 0o777); err != nil && !isFile(folder) {
			return err
		}
		if err := os.Chmod(folder, os.ModeSticky|0o777); err != nil { // jobs may be another user's
			return err
		}
	}
	return h.Isolate(private)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Of returns where a private folder of a host is seen from outside.
func (s *Site) Of(h *Host, name string) string { return filepath.Join(s.Dir, h.Name, name) }

// Left returns what a host has of jobs that were traced.
func (s *Site) Left(h *Host) (found []string) {
	for _, pattern := range []string{filepath.Join(s.Of(h, "tmp"), "cairn-*", "*"), filepath.Join(h.memory, "cairn-*")} {
		paths, _ := filepath.Glob(pattern)
		found = append(found, paths...)
	}
	return found
}
