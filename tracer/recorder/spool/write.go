package spool

import (
	"errors"

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

// overwrite writes bytes to the beginning of a file, which it creates if there is none.
func (d *Directory) overwrite(name string, b []byte) error {
	if _, err := d.root.Lstat(name); err != nil {
		return d.append(name, 0, b)
	}
	f, err := plainfile.OpenWritable(d.root, name)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	return errors.Join(err, f.Close())
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
