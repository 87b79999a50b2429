package store

import (
	"context"
	"errors"
	"io"
	"path"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket keeps objects below a prefix of an S3 bucket.
type bucket struct {
	client minio.Core
	keys   *credentials.Credentials
	// localKeys: keys come from files or the environment, so that reading them takes no time.
	localKeys bool

	endpoint string // as given by the user, for messages
	name     string
	prefix   string // without slashes at its ends
	region   string

	compares, ignores atomic.Bool // known support for conditional writes
}

func newBucket(name, prefix string, o S3Options) (*bucket, error) {
	keys, err := o.credentials()
	var client *minio.Client
	if err == nil {
		client, err = o.client(keys)
	}
	if err != nil {
		return nil, &Error{Op: "open", URL: s3Scheme + path.Join(name, prefix), Reason: Other, Message: err.Error(), Err: err}
	}
	return &bucket{
		client:    minio.Core{Client: client},
		keys:      keys,
		localKeys: o.WebIdentity.TokenFile == "",
		endpoint:  client.EndpointURL().String(),
		name:      name,
		prefix:    prefix,
		region:    o.Region,
	}, nil
}

func (b *bucket) key(key string) string { return path.Join(b.prefix, key) }

func (b *bucket) URL(key string) string { return s3Scheme + path.Join(b.name, b.prefix, key) }

func (b *bucket) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if err := checkKey("write", key, b); err != nil {
		return err
	}
	_, err := b.client.Client.PutObject(ctx, b.name, b.key(key), r, size, minio.PutObjectOptions{ContentType: contentType(key)})
	if err != nil {
		return b.error("write", key, err)
	}
	return nil
}

// contentType allows a browser to open a report in a bucket.
func contentType(key string) string {
	switch path.Ext(key) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".json":
		return "application/json"
	}
	return "application/octet-stream"
}

func (b *bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey("read", key, b); err != nil {
		return nil, err
	}
	body, _, _, err := b.client.GetObject(ctx, b.name, b.key(key), minio.GetObjectOptions{})
	if err != nil {
		return nil, b.error("read", key, err)
	}
	return &objectBody{b: b, key: key, ReadCloser: body}, nil
}

// objectBody classifies errors that occur while an object is being read.
type objectBody struct {
	io.ReadCloser
	b   *bucket
	key string
}

func (r *objectBody) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.b.error("read", r.key, err)
	}
	return n, err
}

func (b *bucket) Stat(ctx context.Context, key string) (Object, error) {
	if err := checkKey("read", key, b); err != nil {
		return Object{}, err
	}
	info, err := b.client.StatObject(ctx, b.name, b.key(key), minio.StatObjectOptions{})
	if err != nil {
		return Object{}, b.error("read", key, err)
	}
	return Object{Key: key, Size: info.Size, Version: etag(info.ETag)}, nil
}

// etag removes the quotes that some stores add.
func etag(s string) string { return strings.Trim(s, `"`) }

func (b *bucket) Delete(ctx context.Context, key string) error {
	if err := checkKey("delete", key, b); err != nil {
		return err
	}
	if err := b.client.RemoveObject(ctx, b.name, b.key(key), minio.RemoveObjectOptions{}); err != nil {
		return b.error("delete", key, err)
	}
	return nil
}

func (b *bucket) List(ctx context.Context, prefix string) ([]Object, error) {
	if err := checkPrefix(prefix, b); err != nil {
		return nil, err
	}
	base := ""
	if b.prefix != "" {
		base = b.prefix + "/"
	}
	// canceling the context ends the goroutine of the listing
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var objects []Object
	for info := range b.client.Client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: base + prefix, Recursive: true}) {
		if info.Err != nil {
			return nil, b.error("list", strings.TrimSuffix(prefix, "/"), info.Err)
		}
		objects = append(objects, Object{Key: strings.TrimPrefix(info.Key, base), Size: info.Size, Version: etag(info.ETag)})
	}
	if err := ctx.Err(); err != nil {
		return nil, b.error("list", strings.TrimSuffix(prefix, "/"), err)
	}
	sort.Slice(objects, func(i, j int) bool { return objects[i].Key < objects[j].Key })
	return objects, nil
}

func (b *bucket) ReaderAt(ctx context.Context, key string) (Reader, error) {
	if err := checkKey("read", key, b); err != nil {
		return nil, err
	}
	info, err := b.client.StatObject(ctx, b.name, b.key(key), minio.StatObjectOptions{})
	if err != nil {
		return nil, b.error("read", key, err)
	}
	return &rangeReader{ctx: ctx, b: b, key: key, etag: info.ETag, size: info.Size}, nil
}

// rangeReader makes one ranged request for each ReadAt.
type rangeReader struct {
	ctx  context.Context // io.ReaderAt has no context
	b    *bucket
	key  string
	etag string // so that two reads never see two versions of the object
	size int64
}

func (r *rangeReader) Size() int64  { return r.size }
func (r *rangeReader) Close() error { return nil }

func (r *rangeReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &Error{Op: "read", URL: r.b.URL(r.key), Reason: Other, Message: "negative offset"}
	}
	if len(p) == 0 {
		return 0, nil
	}
	if off >= r.size {
		return 0, io.EOF
	}
	wanted := min(int64(len(p)), r.size-off)
	var o minio.GetObjectOptions
	if err := o.SetRange(off, off+wanted-1); err != nil {
		return 0, r.b.error("read", r.key, err)
	}
	if r.etag != "" {
		if err := o.SetMatchETag(r.etag); err != nil {
			return 0, r.b.error("read", r.key, err)
		}
	}
	body, _, _, err := r.b.client.GetObject(r.ctx, r.b.name, r.b.key(r.key), o)
	if err != nil {
		return 0, r.b.error("read", r.key, err)
	}
	defer body.Close()
	n, err := io.ReadFull(body, p[:wanted])
	if err != nil {
		return n, r.b.error("read", r.key, err)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// MakeBucket creates the bucket, or the directory, that url names, unless it exists.
func MakeBucket(ctx context.Context, url string, o S3Options) error {
	s, err := Open(url, o)
	if err != nil {
		return err
	}
	switch s := s.(type) {
	case *bucket:
		err := s.client.MakeBucket(ctx, s.name, minio.MakeBucketOptions{Region: s.region})
		switch minio.ToErrorResponse(err).Code {
		case "BucketAlreadyOwnedByYou", "BucketAlreadyExists":
			return nil
		}
		if err != nil {
			return s.error("create bucket", "", err)
		}
	case *directory:
		return s.make()
	}
	return nil
}
