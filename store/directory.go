package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
)

// directory keeps each object in a file.
type directory struct {
	root string
}

func newDirectory(root string) *directory { return &directory{root: filepath.Clean(root)} }

// temporaryPrefix is the prefix of files that are being written; List omits them.
const temporaryPrefix = ".cairn-tmp-"

func (d *directory) file(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

func (d *directory) URL(key string) string {
	if key == "" {
		return d.root
	}
	return d.file(key)
}

func (d *directory) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	return d.put(ctx, key, r, size, func(tmp string) error { return os.Rename(tmp, d.file(key)) })
}

// put writes a temporary file in the object's directory, and calls name to rename it.
func (d *directory) put(ctx context.Context, key string, r io.Reader, size int64, name func(tmp string) error) (err error) {
	if err := checkKey("write", key, d); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	parent := filepath.Dir(d.file(key))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return d.error("write", key, err)
	}
	tmp, err := os.CreateTemp(parent, temporaryPrefix)
	if err != nil {
		return d.error("write", key, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	n, err := io.Copy(tmp, r)
	if err == nil && n != size {
		err = fmt.Errorf("got %d bytes, %d were announced", n, size)
	}
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = tmp.Close()
	}
	if err == nil {
		err = name(tmp.Name())
	}
	if err != nil {
		return d.error("write", key, err)
	}
	return nil
}

func (d *directory) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey("read", key, d); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.open(key)
}

func (d *directory) ReaderAt(ctx context.Context, key string) (Reader, error) {
	if err := checkKey("read", key, d); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.open(key)
}

func (d *directory) open(key string) (*localReader, error) {
	f, err := os.Open(d.file(key))
	if err != nil {
		return nil, d.error("read", key, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, d.error("read", key, err)
	}
	return &localReader{File: f, size: info.Size()}, nil
}

type localReader struct {
	*os.File
	size int64
}

func (r *localReader) Size() int64 { return r.size }

func (d *directory) List(ctx context.Context, prefix string) ([]Object, error) {
	if err := checkPrefix(prefix, d); err != nil {
		return nil, err
	}
	// only the directory that the prefix names can contain matches
	start := d.root
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		start = d.file(prefix[:i])
	}
	var objects []Object
	err := filepath.WalkDir(start, func(name string, entry fs.DirEntry, err error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			// a file or directory that has just been deleted is no error
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(d.root, name)
		if err != nil {
			return err
		}
		key := filepath.ToSlash(rel)
		if entry.IsDir() {
			if key != "." && !strings.HasPrefix(key+"/", prefix) && !strings.HasPrefix(prefix, key+"/") {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || !strings.HasPrefix(key, prefix) || strings.HasPrefix(entry.Name(), temporaryPrefix) {
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		objects = append(objects, Object{Key: key, Size: info.Size(), Version: versionOf(info)})
		return nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, d.error("list", strings.TrimSuffix(prefix, "/"), err)
	}
	// WalkDir sorts by path element ("a/b" before "a-b"); keys are sorted as bytes, like S3 does
	sort.Slice(objects, func(i, j int) bool { return objects[i].Key < objects[j].Key })
	return objects, nil
}

func (d *directory) Delete(ctx context.Context, key string) error {
	if err := checkKey("delete", key, d); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Remove(d.file(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.error("delete", key, err)
	}
	return nil
}

func (d *directory) Stat(ctx context.Context, key string) (Object, error) {
	if err := checkKey("read", key, d); err != nil {
		return Object{}, err
	}
	if err := ctx.Err(); err != nil {
		return Object{}, err
	}
	info, err := os.Stat(d.file(key))
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Object{}, d.error("read", key, err)
	}
	return Object{Key: key, Size: info.Size(), Version: versionOf(info)}, nil
}

// versionOf distinguishes a file from its predecessor: Put always creates a new one. The inode is
// part of it, since the clock may not advance between two of them.
func versionOf(info fs.FileInfo) string {
	inode := uint64(0)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = stat.Ino
	}
	return fmt.Sprintf("%d-%d-%d", info.ModTime().UnixNano(), inode, info.Size())
}

func (d *directory) error(op, key string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	e := &Error{Op: op, URL: d.URL(key), Reason: Other, Message: err.Error(), Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		e.Reason, e.Message = NotFound, "there is no such file"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Reason, e.Message = AccessDenied, "permission denied; choose a directory that uid "+fmt.Sprint(os.Getuid())+" may write to"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.Message = "no space left on the device; free some and try again"
	}
	return e
}

func (d *directory) make() error {
	if err := os.MkdirAll(d.root, 0o755); err != nil {
		return d.error("create", "", err)
	}
	return nil
}
