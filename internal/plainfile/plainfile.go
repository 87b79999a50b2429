// Package plainfile opens regular files in directories that other users may
// write to.
//
// In go an os.Root and a name in it; out comes a regular file, or an error that
// says what is there instead. Symbolic links, FIFOs, devices and sockets are
// never opened for good, and none of them can make the caller wait. Errors name
// the file and nothing of what is in it.
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

// ErrOdd is the error for what is there and is no regular file, or is larger
// than any that belongs there.
var ErrOdd = errors.New("refused")

// Open opens a regular file for reading.
func Open(root *os.Root, name string) (*os.File, error) { return open(root, name, os.O_RDONLY) }

// OpenWritable opens a regular file for reading and writing.
func OpenWritable(root *os.Root, name string) (*os.File, error) { return open(root, name, os.O_RDWR) }

// Create makes a regular file for writing. What stood in its place is removed, and not opened.
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
	// what was put in its place since may be a FIFO: without O_NONBLOCK that would wait for a writer
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
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	tooLarge := func(size int64) error {
		return fmt.Errorf("%s is %w: %d bytes, more than %d", f.Name(), ErrOdd, size, limit)
	}
	if info.Size() > limit {
		return nil, tooLarge(info.Size())
	}
	b := make([]byte, info.Size())
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // it became shorter
	}
	return b[:n], err
}

// Directory opens a directory that is one itself, not a link to one.
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
