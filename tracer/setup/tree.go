package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// Limits of a walk through an image.
const (
	maxLinks       = 40      // symbolic links in one path, the kernel's limit
	maxNames       = 1 << 16 // names that are read from one directory
	maxDirectories = 1 << 12 // matches of one pattern
)

// errRemote reports a path that was skipped.
var errRemote = errors.New("on a network file system")

// A tree is the file system of an image. Paths in it are absolute, and so are the targets of
// its symbolic links.
//
// A tree enters network file systems only with reach everywhere, for directories that somebody
// named: a walk through a mounted home directory may take minutes, or forever.
type tree struct {
	root    string // directory of the image
	mounted mounts
	skipped map[string]string // mount points that were not entered, with their types
	at      atomic.Pointer[string]
}

func newTree(root string) *tree {
	absolute, err := filepath.Abs(root)
	if err != nil {
		absolute = root
	}
	return &tree{root: absolute, mounted: readMounts(), skipped: map[string]string{}}
}

// reach is the extent of a walk.
type reach bool

const (
	localOnly  reach = false // not into network file systems
	everywhere reach = true
)

// resolve follows the symbolic links of a path. It returns the resulting path and the file there.
func (t *tree) resolve(name string, how reach) (string, fs.FileInfo, error) {
	current, pending := "/", strings.Split(name, "/")
	info, err := os.Lstat(t.root)
	for links := 0; len(pending) > 0 && err == nil; {
		part := pending[0]
		pending = pending[1:]
		if part == "" {
			continue
		}
		next := path.Join(current, part)
		real := filepath.Join(t.root, next)
		if point, kind, remote := t.mounted.remote(real); remote && how == localOnly {
			t.skipped[point] = kind
			return "", nil, errRemote
		}
		t.at.Store(&next)
		if info, err = os.Lstat(real); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			current = next
			continue
		}
		if links++; links > maxLinks {
			return "", nil, fmt.Errorf("%s: too many symbolic links", name)
		}
		var target string
		if target, err = os.Readlink(real); path.IsAbs(target) {
			current = "/"
		}
		pending = append(strings.Split(target, "/"), pending...)
	}
	return current, info, err
}

// open opens a regular file: nothing else can be a library, and opening a FIFO would block.
func (t *tree) open(name string, how reach) (*os.File, error) {
	name, info, err := t.resolve(name, how)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	return os.OpenFile(filepath.Join(t.root, name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// names returns the sorted names in a directory that match one of the patterns.
func (t *tree) names(dir string, how reach, patterns ...string) []string {
	dir, info, err := t.resolve(dir, how)
	if err != nil || !info.IsDir() {
		return nil
	}
	file, err := os.Open(filepath.Join(t.root, dir))
	if err != nil {
		return nil
	}
	defer file.Close()
	var found []string
	for seen := 0; seen < maxNames; {
		some, err := file.Readdirnames(1024)
		seen += len(some)
		for _, name := range some {
			if slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
				found = append(found, name)
			}
		}
		if err != nil {
			break
		}
	}
	slices.Sort(found)
	return found
}

// expand returns the directories that match a pattern such as "opt/*/lib".
func (t *tree) expand(pattern string) []string {
	found := []string{"/"}
	for part := range strings.SplitSeq(pattern, "/") {
		var next []string
		for _, dir := range found {
			names := []string{part}
			if strings.ContainsAny(part, "*?[") {
				names = t.names(dir, localOnly, part)
			}
			for _, name := range names {
				if real, info, err := t.resolve(path.Join(dir, name), localOnly); err == nil && info.IsDir() && len(next) < maxDirectories {
					next = append(next, real)
				}
			}
		}
		found = next
	}
	return found
}

// expandAll is expand for several patterns.
func (t *tree) expandAll(patterns ...string) []string {
	var found []string
	for _, pattern := range patterns {
		found = append(found, t.expand(pattern)...)
	}
	return found
}

// position returns the current path of a walk.
func (t *tree) position() string {
	if at := t.at.Load(); at != nil {
		return *at
	}
	return "/"
}

// skippedText returns the network file systems that were skipped; "" for none.
func (t *tree) skippedText() string {
	var all []string
	for point, kind := range t.skipped {
		all = append(all, fmt.Sprintf("%s (%s)", point, kind))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
