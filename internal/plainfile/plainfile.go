// Package plainfile opens regular files in directories that other users may write to.
//
// Its functions take an os.Root and a name in it. They return a regular file, or an error that
// describes what exists instead. Symbolic links, FIFOs, devices and sockets are never returned, and
// none of them can block the caller. Errors contain the file's name but nothing of its content.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrOdd is returned for anything that is not a regular file, or that is larger than any file
// expected there.
var ErrOdd = errors.New("refused")

// Open opens a regular file for reading.
func Open(root *os.Root, name string) (*os.File, error) { return open(root, name, os.O_RDONLY) }

// OpenWritable opens a regular file for reading and writing.
func OpenWritable(root *os.Root, name string) (*os.File, error) { return open(root, name, os.O_RDWR) }

// Create creates a regular file for writing. An existing file with that name is removed without
// opening it.
func Create(root *os.Root, name string) (*os.File, error) {
	if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o644)
}

func open(root *os.Root, name string, flag int) (*os.File, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, odd(root, name, kindOf(before.Mode()))
	}
	// the file may have been replaced by a FIFO: without O_NONBLOCK the call would wait for a
	// writer
	f, err := root.OpenFile(name, flag|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = odd(root, name, "replaced while it was opened")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read reads a regular file of at most limit bytes.
func Read(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadOpen(f, limit)
}

// ReadOpen reads an open file of at most limit bytes.
func ReadOpen(f *os.File, limit int64) ([]byte, error) {
	size, err := Size(f, limit)
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // it became shorter
	}
	return b[:n], err
}

// Size returns the size of an open file, which must be at most limit bytes.
func Size(f *os.File, limit int64) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if size := info.Size(); size > limit {
		return 0, fmt.Errorf("%s is %w: %d bytes, more than %d", f.Name(), ErrOdd, size, limit)
	}
	return info.Size(), nil
}

// Directory opens a real directory, not a link to one.
func Directory(root *os.Root, name string) (*os.Root, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, odd(root, name, kindOf(before.Mode()))
	}
	dir, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := dir.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = odd(root, name, "replaced while it was opened")
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

func odd(root *os.Root, name, what string) error {
	return fmt.Errorf("%s is %w: %s", filepath.Join(root.Name(), name), ErrOdd, what)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode.IsRegular():
		return "a regular file"
	}
	return "no regular file"
}
