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
	maxLinks       = 40      // symbolic links in one path, as the kernel has it
	maxNames       = 1 << 16 // names that are read of one directory
	maxDirectories = 1 << 12 // that match one pattern
)

// errRemote is why a path was not looked at.
var errRemote = errors.New("on a network file system")

// A tree is the file system of an image. Paths in it are absolute, and so are the targets of its symbolic links.
//
// It enters what another machine serves only if everywhere is set, which is for directories that somebody named: a walk
// through a mounted home may take minutes, or for ever.
type tree struct {
	root    string // where the image is
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

// reach says how far a walk goes.
type reach bool

const (
	here       reach = false // not into network file systems
	everywhere reach = true
)

// resolve follows the symbolic links of a path, and gives the path without and what is there.
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
		if point, kind, remote := t.mounted.remote(real); remote && how == here {
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

// open opens a regular file: nothing else can be a library, and a pipe would wait for ever.
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

// names are those in a directory that one of the patterns matches, sorted.
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

// expand gives the directories that a pattern such as "opt/*/lib" matches.
func (t *tree) expand(pattern string) []string {
	found := []string{"/"}
	for part := range strings.SplitSeq(pattern, "/") {
		var next []string
		for _, dir := range found {
			names := []string{part}
			if strings.ContainsAny(part, "*?[") {
				names = t.names(dir, here, part)
			}
			for _, name := range names {
				if real, info, err := t.resolve(path.Join(dir, name), here); err == nil && info.IsDir() && len(next) < maxDirectories {
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

// place is where a walk is.
func (t *tree) place() string {
	if at := t.at.Load(); at != nil {
		return *at
	}
	return "/"
}

// skippedText names the network file systems that were not entered; "" for none.
func (t *tree) skippedText() string {
	var all []string
	for point, kind := range t.skipped {
		all = append(all, fmt.Sprintf("%s (%s)", point, kind))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
