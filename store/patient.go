package store

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"sync"
	"time"
)

// Patience is how long a patient store retries.
type Patience struct {
	// Unreachable is how long a store may be unavailable, counted from its first failure after a
	// success. It is meant for a restart or a network problem, not for a wrong address.
	Unreachable time.Duration
	// Refused is the same for a key that is refused or missing: a new one takes a moment until it
	// works.
	Refused time.Duration
	// Logf is called once when an outage begins, and once when it is over. It may be nil.
	Logf func(format string, args ...any)
}

// Pauses between two tries.
const (
	firstPause = 250 * time.Millisecond
	maxPause   = 15 * time.Second
)

// Patient returns a store that retries operations while s is unavailable or refuses. They return
// the last error, for which MayPass is false: the caller need not retry.
func Patient(s Store, p Patience) Store {
	return &patient{Store: s, patience: p}
}

// patient counts one outage for all operations, however many wait at the same time.
type patient struct {
	Store
	patience Patience

	mu    sync.Mutex
	since map[Reason]time.Time // start of the current outage; empty: the last operation succeeded
	begun time.Time            // start of the first operation that failed in it
	away  time.Duration        // total of past outages
}

// Away returns the total time for which a patient store has not answered so far; 0 for any other
// store.
func Away(s Store) time.Duration {
	p, ok := s.(*patient)
	if !ok {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since != nil {
		return p.away + time.Since(p.begun)
	}
	return p.away
}

// limit returns how long this kind of failure is retried; 0: not at all.
func (p *patient) limit(reason Reason) time.Duration {
	switch reason {
	case Unreachable:
		return p.patience.Unreachable
	case AccessDenied, CredentialsMissing, BucketMissing:
		return p.patience.Refused
	}
	return 0
}

// left returns the time left for retrying a failed operation.
func (p *patient) left(err error, begun time.Time) time.Duration {
	reason := ReasonOf(err)
	limit := p.limit(reason)
	if limit <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since == nil {
		p.since, p.begun = map[Reason]time.Time{}, begun
		p.logf("waiting up to %s for the storage: %v", limit, err)
	}
	kind := reason
	if kind != Unreachable {
		kind = AccessDenied // all refusals share one limit
	}
	since, known := p.since[kind]
	if !known {
		since = time.Now()
		p.since[kind] = since
	}
	return limit - time.Since(since)
}

// passed records that an operation had an answer: the outage is over.
func (p *patient) passed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since != nil {
		p.since = nil
		p.away += time.Since(p.begun)
		p.logf("the storage answers again")
	}
}

func (p *patient) logf(format string, args ...any) {
	if p.patience.Logf != nil {
		p.patience.Logf(format, args...)
	}
}

// try repeats an operation until it has an answer or the time is up.
func (p *patient) try(ctx context.Context, operation func() error) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		begun := time.Now()
		err := operation()
		var failed *Error
		if !errors.As(err, &failed) || p.limit(failed.Reason) <= 0 {
			if err == nil || IsNotFound(err) {
				p.passed()
			}
			return err
		}
		left := p.left(err, begun)
		if left <= 0 {
			return waited(failed)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(pause, left)):
		}
	}
}

// waited returns the error for when the time is up.
func waited(e *Error) *Error {
	final := *e
	final.waited = true
	return &final
}

// Put rewinds the reader for each try. A reader that cannot seek is buffered in memory.
func (p *patient) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	seeker, ok := r.(io.ReadSeeker)
	if !ok {
		raw, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		seeker = bytes.NewReader(raw)
	}
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return p.try(ctx, func() error {
		if _, err := seeker.Seek(start, io.SeekStart); err != nil {
			return err
		}
		return p.Store.Put(ctx, key, seeker, size)
	})
}

// PutIf also returns Changed if an earlier try succeeded without an answer.
func (p *patient) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (now string, err error) {
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return "", err
	}
	err = p.try(ctx, func() error {
		if _, err := r.Seek(start, io.SeekStart); err != nil {
			return err
		}
		now, err = p.Store.PutIf(ctx, key, r, size, version)
		return err
	})
	return now, err
}

// Get continues reading where it was when the store became unavailable in the middle of an object.
func (p *patient) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	b := &patientBody{ctx: ctx, p: p, key: key}
	b.read.SetSeed(maphash.MakeSeed())
	if err := p.try(ctx, b.open); err != nil {
		return nil, err
	}
	return b, nil
}

// patientBody is an object that is being read.
type patientBody struct {
	ctx  context.Context // io.Reader has no context
	p    *patient
	key  string
	body io.ReadCloser
	n    int64        // bytes returned so far
	read maphash.Hash // of these bytes
}

func (b *patientBody) open() (err error) {
	b.body, err = b.p.Store.Get(b.ctx, b.key)
	return err
}

func (b *patientBody) Read(buffer []byte) (n int, err error) {
	err = b.p.try(b.ctx, func() error {
		if b.body == nil {
			if err := b.reopen(); err != nil {
				return err
			}
		}
		var err error
		n, err = b.body.Read(buffer)
		if n > 0 || err == nil || errors.Is(err, io.EOF) {
			return err // an error that comes with bytes is returned again by the next read
		}
		b.body.Close()
		b.body = nil
		return err
	})
	if n > 0 && err != nil && !errors.Is(err, io.EOF) {
		err = nil
		b.body.Close()
		b.body = nil
	}
	b.n += int64(n)
	_, _ = b.read.Write(buffer[:n])
	return n, err
}

// reopen opens the object again and seeks to the current position, if it begins with the same
// bytes.
func (b *patientBody) reopen() error {
	if err := b.open(); err != nil {
		return err
	}
	var again maphash.Hash
	again.SetSeed(b.read.Seed())
	if _, err := io.CopyN(&again, b.body, b.n); err != nil && !errors.Is(err, io.EOF) {
		b.body.Close()
		b.body = nil
		return err
	}
	if again.Sum64() != b.read.Sum64() {
		b.body.Close()
		b.body = nil
		return &Error{Op: "read", URL: b.p.URL(b.key), Reason: Other, Message: "it was replaced while it was being read"}
	}
	return nil
}

func (b *patientBody) Close() error {
	if b.body == nil {
		return nil
	}
	return b.body.Close()
}

func (p *patient) ReaderAt(ctx context.Context, key string) (r Reader, err error) {
	err = p.try(ctx, func() error {
		r, err = p.Store.ReaderAt(ctx, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &patientReader{Reader: r, ctx: ctx, p: p}, nil
}

type patientReader struct {
	Reader
	ctx context.Context // io.ReaderAt has no context
	p   *patient
}

func (r *patientReader) ReadAt(buffer []byte, offset int64) (n int, err error) {
	err = r.p.try(r.ctx, func() error {
		n, err = r.Reader.ReadAt(buffer, offset)
		return err
	})
	return n, err
}

func (p *patient) List(ctx context.Context, prefix string) (objects []Object, err error) {
	err = p.try(ctx, func() error {
		objects, err = p.Store.List(ctx, prefix)
		return err
	})
	return objects, err
}

func (p *patient) Delete(ctx context.Context, key string) error {
	return p.try(ctx, func() error { return p.Store.Delete(ctx, key) })
}

func (p *patient) Stat(ctx context.Context, key string) (object Object, err error) {
	err = p.try(ctx, func() error {
		object, err = p.Store.Stat(ctx, key)
		return err
	})
	return object, err
}
