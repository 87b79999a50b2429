package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"syscall"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
)

// TmpfsLink is the name of a symbolic link in a spool to a folder on a tmpfs. Processes put the
// files there that they have mapped all the time, as far as there is room (tmpfs.c): observed and
// the record buffers that they use again, as <link>/<name of the process's directory>/N.seg. It is
// made by whoever makes the spool. That of another user is not followed, since ranks can write to
// the spool.
const TmpfsLink = "buffers"

// onTmpfs matches the names of files on the tmpfs.
var onTmpfs = regexp.MustCompile(`^([0-9]{1,2}\.seg|` + observed.FileName + `)$`)

// openTmpfs opens the folder of a spool on a tmpfs; nil if there is none.
func openTmpfs(spool *os.Root) (*os.Root, error) {
	link, err := spool.Lstat(TmpfsLink)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
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
	folder, err := os.OpenRoot(target)
	if errors.Is(err, fs.ErrNotExist) { // on another machine, or removed
		return nil, nil
	}
	return folder, err
}

func ownerOf(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

// openOnTmpfs opens a process's folder on the tmpfs; nil if there is none.
func openOnTmpfs(spool *os.Root, name string) (*os.Root, error) {
	folder, err := openTmpfs(spool)
	if folder == nil || err != nil {
		return nil, err
	}
	defer folder.Close()
	process, err := plainfile.Directory(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return process, err
}

// RemoveFromTmpfs removes a process's files from the tmpfs. It must precede the removal of the
// process's directory, after which nobody knows of them.
func RemoveFromTmpfs(spool *os.Root, name string) error {
	folder, err := openTmpfs(spool)
	if folder == nil || err != nil {
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
	if folder == nil || err != nil {
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
		err = errors.Join(err, copyFile(d.root, d.tmpfs, name))
	}
	return err
}

func copyFile(to, from *os.Root, name string) error {
	in, err := plainfile.Open(from, name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := plainfile.Create(to, name)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// folderOnTmpfs returns the process's folder on the tmpfs; nil if there is none so far.
func (d *Directory) folderOnTmpfs() (*os.Root, error) {
	var err error
	if d.tmpfs == nil {
		d.tmpfs, err = d.openTmpfs()
	}
	return d.tmpfs, err
}

// namesOnTmpfs returns the names of the process's files on the tmpfs.
func (d *Directory) namesOnTmpfs() (names []string, err error) {
	folder, err := d.folderOnTmpfs()
	if folder == nil {
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
func (d *Directory) openFile(name string) (*os.File, error) {
	file, err := plainfile.Open(d.root, name)
	if !errors.Is(err, fs.ErrNotExist) || !onTmpfs.MatchString(name) {
		return file, err
	}
	folder, failed := d.folderOnTmpfs()
	switch {
	case failed != nil:
		return nil, failed
	case folder == nil:
		return nil, err
	}
	return plainfile.Open(folder, name)
}
