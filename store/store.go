package store

import (
	"context"
	"io"
	"path"
	"strings"
)

// A Store keeps objects under keys: relative slash-separated paths without "." or ".." elements.
// Its methods are safe for concurrent use. Their errors are *Error, except for that of a canceled
// context.
type Store interface {
	// Put writes size bytes of r under key and replaces an existing object. Readers see the old
	// object or the new one, never a part.
	Put(ctx context.Context, key string, r io.Reader, size int64) error
	// PutIf is Put on the condition that the object has a version, as returned by Stat, List or
	// PutIf; "" means that it does not exist. It returns the new version. If the condition fails
	// the reason of the error is Changed; this includes the case that an earlier try of the same
	// write succeeded and its answer was lost. If the store does not support conditions the reason
	// is Unsupported: then the object may have been replaced by this content.
	PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error)
	// Get returns the whole object; the caller closes it.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// ReaderAt returns a reader of ranges of the current object.
	ReaderAt(ctx context.Context, key string) (Reader, error)
	// List returns the objects whose keys begin with prefix, sorted by key; "" lists all.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete removes the object; a missing one is no error.
	Delete(ctx context.Context, key string) error
	// Stat returns the size and version of the object.
	Stat(ctx context.Context, key string) (Object, error)
	// URL returns the name of the object for people and for Open; "" names the store itself.
	URL(key string) string
}

// An Object describes an object in List and Stat.
type Object struct {
	Key  string
	Size int64
	// Version changes when the object is replaced by other content. It is the same in List and
	// Stat; "" if the store has none.
	Version string
}

// A Reader reads one object in ranges. Its methods are safe for concurrent use.
type Reader interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Open returns the store that url names: a directory, which need not exist yet, or
// s3://bucket/prefix. It makes no request.
func Open(url string, s3 S3Options) (Store, error) {
	loc, err := parseLocation(url)
	if err != nil {
		return nil, err
	}
	if loc.bucket == "" {
		return newDirectory(loc.path), nil
	}
	return newBucket(loc.bucket, loc.path, s3)
}

// checkKey rejects keys that would leave the store or mean different objects
// in the two implementations.
func checkKey(op, key string, s Store) error {
	if key == "" || key != path.Clean(key) || strings.HasPrefix(key, "/") || key == ".." || strings.HasPrefix(key, "../") {
		return &Error{Op: op, URL: s.URL(""), Reason: Other, Message: "invalid object key " + quote(key)}
	}
	return nil
}

// checkPrefix rejects prefixes that leave the store.
func checkPrefix(prefix string, s Store) error {
	trimmed := strings.TrimSuffix(prefix, "/")
	if trimmed == "" && prefix == "" {
		return nil
	}
	return checkKey("list", trimmed, s)
}
