package store

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// location is a parsed store URL: a local path, or a bucket and a key prefix.
type location struct {
	bucket string // "" for a local path
	path   string
}

const s3Scheme = "s3://"

func parseLocation(raw string) (location, error) {
	invalid := func(why string) error {
		return &Error{Op: "open", URL: raw, Reason: Other, Message: why + "; a store is a directory or s3://bucket/prefix"}
	}
	switch {
	case raw == "":
		return location{}, invalid("empty store URL")
	case strings.HasPrefix(raw, s3Scheme):
		bucket, prefix, _ := strings.Cut(strings.TrimPrefix(raw, s3Scheme), "/")
		if bucket == "" {
			return location{}, invalid("no bucket in " + quote(raw))
		}
		prefix = strings.Trim(prefix, "/")
		if prefix != "" && prefix != path.Clean(prefix) {
			return location{}, invalid("prefix is not a clean path in " + quote(raw))
		}
		return location{bucket: bucket, path: prefix}, nil
	case strings.HasPrefix(raw, "file://"):
		u, err := url.Parse(raw)
		if err != nil || u.Host != "" || u.Path == "" {
			return location{}, invalid("not a local file URL: " + quote(raw))
		}
		return location{path: u.Path}, nil
	case strings.Contains(raw, "://"):
		scheme, _, _ := strings.Cut(raw, "://")
		return location{}, invalid("unknown scheme " + quote(scheme))
	}
	return location{path: raw}, nil
}

// Join appends a key to a store URL.
func Join(url, key string) string {
	if key == "" {
		return url
	}
	if strings.Contains(url, "://") {
		return strings.TrimRight(url, "/") + "/" + key
	}
	return filepath.Join(url, filepath.FromSlash(key))
}

// Split splits the last element off a path of any kind: "s3://b/p/f" gives "s3://b/p" and "f",
// "dir/f" gives "dir" and "f", "f" gives "." and "f". The key is "" if the URL names a bucket or
// the root directory itself.
func Split(url string) (storeURL, key string) {
	if rest, ok := strings.CutPrefix(url, s3Scheme); ok {
		rest = strings.TrimRight(rest, "/")
		i := strings.LastIndexByte(rest, '/')
		if i < 0 {
			return s3Scheme + rest, ""
		}
		return s3Scheme + rest[:i], rest[i+1:]
	}
	local := strings.TrimPrefix(url, "file://")
	dir, base := filepath.Split(filepath.Clean(local))
	if dir == "" {
		dir = "."
	}
	if base == "" || base == ".." || base == "." {
		return local, ""
	}
	return filepath.Clean(dir), base
}

// OpenFile opens one object for reading in ranges, by its path of any kind.
func OpenFile(ctx context.Context, path string, s3 S3Options) (Reader, error) {
	storeURL, key := Split(path)
	if key == "" {
		return nil, &Error{Op: "read", URL: path, Reason: NotFound, Message: fmt.Sprintf("%s is not a file; name an object in it", path)}
	}
	s, err := Open(storeURL, s3)
	if err != nil {
		return nil, err
	}
	return s.ReaderAt(ctx, key)
}

// IsRemote reports whether path names an object in a bucket.
func IsRemote(path string) bool { return strings.HasPrefix(path, s3Scheme) }
