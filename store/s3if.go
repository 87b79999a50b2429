package store

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/minio/minio-go/v7"
)

// PutIf uses If-Match and If-None-Match. A store that does not support them returns an error, or
// ignores them. The latter is detected by repeating the first write that it accepts, which must
// fail.
func (b *bucket) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error) {
	if err := checkKey("write", key, b); err != nil {
		return "", err
	}
	if b.ignores.Load() {
		return "", b.unsupported(key, nil)
	}
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return "", err
	}
	now, err := b.putIf(ctx, key, r, size, version)
	if err != nil || b.compares.Load() {
		return now, err
	}
	if _, err := r.Seek(start, io.SeekStart); err != nil {
		return "", err
	}
	// If the content is unchanged, so is its version: only "none" is certainly outdated.
	_, err = b.putIf(ctx, key, r, size, "")
	switch {
	case ReasonOf(err) == Changed:
		b.compares.Store(true)
		return now, nil
	case err == nil:
		b.ignores.Store(true)
		return "", b.unsupported(key, nil)
	case ReasonOf(err) == Unsupported:
		return "", err
	}
	return now, nil // ask again next time
}

func (b *bucket) putIf(ctx context.Context, key string, r io.Reader, size int64, version string) (string, error) {
	o := minio.PutObjectOptions{ContentType: contentType(key), DisableMultipart: true}
	if version == "" {
		o.SetMatchETagExcept("*")
	} else {
		o.SetMatchETag(version)
	}
	info, err := b.client.Client.PutObject(ctx, b.name, b.key(key), r, size, o)
	if err == nil {
		return etag(info.ETag), nil
	}
	if errors.Is(err, context.Canceled) {
		return "", err
	}
	response := minio.ToErrorResponse(err)
	switch {
	case response.StatusCode == http.StatusPreconditionFailed, response.Code == "PreconditionFailed",
		// Amazon: another write of the same object is in progress
		response.Code == "ConditionalRequestConflict",
		// a version is required of an object that was deleted
		version != "" && response.Code == minio.NoSuchKey:
		return "", &Error{Op: "write", URL: b.URL(key), Reason: Changed, Message: "another writer has replaced it", Err: err}
	case response.StatusCode == http.StatusNotImplemented, response.Code == "NotImplemented":
		b.ignores.Store(true)
		return "", b.unsupported(key, err)
	}
	return "", b.error("write", key, err)
}

func (b *bucket) unsupported(key string, err error) error {
	return &Error{Op: "write", URL: b.URL(key), Reason: Unsupported, Message: b.endpoint + " cannot write under a condition", Err: err}
}
