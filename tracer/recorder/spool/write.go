package spool

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/cairn-mpi/cairn/internal/plainfile"
)

// append writes bytes to the end of a file, which is at byte at. It creates the file if at is 0. It
// opens the file each time: others may have put something else in its place.
func (d *Directory) append(name string, at int64, b []byte) error {
	open := plainfile.OpenWritable
	if at == 0 {
		open = plainfile.Create
	}
	f, err := open(d.root, name)
	if err != nil {
		return err
	}
	if at == 0 {
		err = f.Chmod(0o644) // whatever the umask: another user may read it
	}
	if err == nil {
		_, err = f.WriteAt(b, at)
	}
	return errors.Join(err, f.Close())
}

// overwrite writes bytes to the beginning of a file, which it creates if there is none: those
// behind the first few, and then these.
func (d *Directory) overwrite(name string, b []byte, few int) error {
	if _, err := d.root.Lstat(name); err != nil {
		return d.append(name, 0, b)
	}
	f, err := plainfile.OpenWritable(d.root, name)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(b[few:], int64(few)); err == nil && few > 0 {
		_, err = f.WriteAt(b[:few], 0)
	}
	return errors.Join(err, f.Close())
}

// replace writes a file under another name, and renames it once it is whole.
func (d *Directory) replace(name string, content io.Reader) error {
	prefix, _, _ := strings.Cut(name, "-")
	fresh := prefix + ".new"
	f, err := plainfile.Create(d.root, fresh)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.root.Rename(fresh, name)
}

// remove removes a file, if there is one.
func (d *Directory) remove(name string) error {
	if err := d.root.Remove(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// sizeOf returns the size of a file; 0 if there is none.
func (d *Directory) sizeOf(name string) int64 {
	info, err := d.root.Lstat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// truncate makes a file size bytes long, if it is longer.
func (d *Directory) truncate(name string, size int64) error {
	f, err := plainfile.OpenWritable(d.root, name)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > size {
		err = f.Truncate(size)
	}
	return errors.Join(err, f.Close())
}
