package pod

import (
	"context"
	"io"
	"sync"

	"github.com/cairn-mpi/cairn/store"
)

// A lateStore is opened at its first use, and again until that succeeds. A file of certificates
// that is missing at first may appear later, and a sidecar that exited because of it would keep its
// pod from becoming ready.
type lateStore struct {
	name   string // as given on the command line
	open   func() (store.Store, error)
	mu     sync.Mutex
	opened store.Store
}

func (l *lateStore) get() (store.Store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened != nil {
		return l.opened, nil
	}
	s, err := l.open()
	if err == nil {
		l.opened = s
	}
	return s, err
}

func (l *lateStore) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	s, err := l.get()
	if err != nil {
		return err
	}
	return s.Put(ctx, key, r, size)
}

func (l *lateStore) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error) {
	s, err := l.get()
	if err != nil {
		return "", err
	}
	return s.PutIf(ctx, key, r, size, version)
}

func (l *lateStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.Get(ctx, key)
}

func (l *lateStore) ReaderAt(ctx context.Context, key string) (store.Reader, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.ReaderAt(ctx, key)
}

func (l *lateStore) List(ctx context.Context, prefix string) ([]store.Object, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	return s.List(ctx, prefix)
}

func (l *lateStore) Delete(ctx context.Context, key string) error {
	s, err := l.get()
	if err != nil {
		return err
	}
	return s.Delete(ctx, key)
}

func (l *lateStore) Stat(ctx context.Context, key string) (store.Object, error) {
	s, err := l.get()
	if err != nil {
		return store.Object{}, err
	}
	return s.Stat(ctx, key)
}

func (l *lateStore) URL(key string) string {
	if s, err := l.get(); err == nil {
		return s.URL(key)
	}
	return l.name + "/" + key
}
