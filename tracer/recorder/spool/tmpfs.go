package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"syscall"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
)

// TmpfsLink is the name of a symbolic link in a spool to a folder on a tmpfs. Processes put the
// files there that they have mapped all the time, as far as there is room (tmpfs.c): observed and
// the record buffers that they use again, as <link>/<name of the process's directory>/ring-0.seg.
// It is made by whoever makes the spool. That of another user is not followed, since ranks can
// write to the spool.
const TmpfsLink = "buffers"

// onTmpfs matches the names of files on the tmpfs.
var onTmpfs = regexp.MustCompile(`^(ring-0\.seg|` + observed.FileName + `)$`)

// openTmpfs opens the folder of a spool on a tmpfs; fs.ErrNotExist if there is none, on this
// machine or any more.
func openTmpfs(spool *os.Root) (*os.Root, error) {
	link, err := spool.Lstat(TmpfsLink)
	if err != nil {
		return nil, err
	}
	directory, err := spool.Stat(".")
	if err != nil {
		return nil, err
	}
	if link.Mode().Type() != fs.ModeSymlink || ownerOf(link) != ownerOf(directory) {
		return nil, fmt.Errorf("%s is %w: no link of the spool's owner", TmpfsLink, plainfile.ErrOdd)
	}
	target, err := spool.Readlink(TmpfsLink)
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(target)
}

func ownerOf(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

// RemoveFromTmpfs removes a process's files from the tmpfs. It must precede the removal of the
// process's directory, after which nobody knows of them.
func RemoveFromTmpfs(spool *os.Root, name string) error {
	folder, err := openTmpfs(spool)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.RemoveAll(name)
}

// SaveFromTmpfs copies all files on the tmpfs of a spool into the processes' directories, so that
// the spool is complete without the tmpfs.
func SaveFromTmpfs(directory string) error {
	spool, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer spool.Close()
	folder, err := openTmpfs(spool)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	processes, err := fs.ReadDir(folder.FS(), ".")
	for _, process := range processes {
		d, failed := OpenDirectory(spool, process.Name())
		if failed == nil {
			failed = errors.Join(d.saveFromTmpfs(), d.Close())
		}
		err = errors.Join(err, failed)
	}
	return err
}

func (d *Directory) saveFromTmpfs() error {
	names, err := d.namesOnTmpfs()
	for _, name := range names {
		in, failed := plainfile.Open(d.tmpfs, name)
		if failed == nil {
			failed = errors.Join(d.saveFile(name, in), in.Close())
		}
		err = errors.Join(err, failed)
	}
	return err
}

// saveFile copies a file. Pages of zeros become holes, as they mostly are in the ring.
func (d *Directory) saveFile(name string, in *os.File) error {
	const page, fresh = 4096, "copy.new"
	out, err := plainfile.Create(d.root, fresh)
	if err != nil {
		return err
	}
	defer out.Close()
	b, zeros := make([]byte, 64*page), make([]byte, page)
	for at := int64(0); err == nil; {
		var n int
		n, err = io.ReadFull(in, b)
		for piece := range slices.Chunk(b[:n], page) {
			if !bytes.Equal(piece, zeros[:len(piece)]) {
				if _, failed := out.WriteAt(piece, at); failed != nil {
					return failed
				}
			}
			at += int64(len(piece))
		}
		if failed := out.Truncate(at); failed != nil {
			return failed
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return d.root.Rename(fresh, name)
}

// folderOnTmpfs returns the process's folder on the tmpfs; fs.ErrNotExist if there is none so far.
func (d *Directory) folderOnTmpfs() (*os.Root, error) {
	if d.tmpfs != nil {
		return d.tmpfs, nil
	}
	folder, err := openTmpfs(d.spool)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	d.tmpfs, err = plainfile.Directory(folder, d.name)
	return d.tmpfs, err
}

// namesOnTmpfs returns the names of the process's files on the tmpfs.
func (d *Directory) namesOnTmpfs() (names []string, err error) {
	folder, err := d.folderOnTmpfs()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(folder.FS(), ".")
	for _, entry := range entries {
		if onTmpfs.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// openFile opens a file in the process's directory, or else on the tmpfs.
func (d *Directory) openFile(name string) (file *os.File, isOnTmpfs bool, err error) {
	return d.openFileTo(name, plainfile.Open)
}

// openFileTo opens it to read or to write.
func (d *Directory) openFileTo(name string, open func(*os.Root, string) (*os.File, error)) (file *os.File, isOnTmpfs bool, err error) {
	file, err = open(d.root, name)
	if !errors.Is(err, fs.ErrNotExist) || !onTmpfs.MatchString(name) {
		return file, false, err
	}
	folder, failed := d.folderOnTmpfs()
	switch {
	case errors.Is(failed, fs.ErrNotExist):
		return nil, false, err
	case failed != nil:
		return nil, false, failed
	}
	file, err = open(folder, name)
	return file, true, err
}
