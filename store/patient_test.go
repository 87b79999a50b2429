package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// flaky is a store that fails for a while, also in the middle of an object.
type flaky struct {
	Store
	mu    sync.Mutex
	until time.Time
	why   Reason
	tries int
	half  bool // the next Get breaks off after half of the object
}

func (f *flaky) fails(op, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	if time.Now().Before(f.until) {
		return &Error{Op: op, URL: f.URL(key), Reason: f.why, Message: "it is away"}
	}
	return nil
}

func (f *flaky) away(d time.Duration, why Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until, f.why = time.Now().Add(d), why
}

func (f *flaky) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if err := f.fails("write", key); err != nil {
		_, _ = io.CopyN(io.Discard, r, size/2) // as an upload that breaks off
		return err
	}
	return f.Store.Put(ctx, key, r, size)
}

func (f *flaky) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error) {
	if err := f.fails("write", key); err != nil {
		_, _ = io.CopyN(io.Discard, r, size/2) // as an upload that breaks off
		return "", err
	}
	return f.Store.PutIf(ctx, key, r, size, version)
}

func (f *flaky) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := f.fails("read", key); err != nil {
		return nil, err
	}
	body, err := f.Store.Get(ctx, key)
	if err == nil && f.half {
		f.half = false
		raw, _ := io.ReadAll(body)
		broken := &Error{Op: "read", URL: f.URL(key), Reason: Unreachable, Message: "connection reset"}
		return io.NopCloser(io.MultiReader(bytes.NewReader(raw[:len(raw)/2]), iotest.ErrReader(broken))), nil
	}
	return body, err
}

func (f *flaky) ReaderAt(ctx context.Context, key string) (Reader, error) {
	if err := f.fails("read", key); err != nil {
		return nil, err
	}
	r, err := f.Store.ReaderAt(ctx, key)
	return &flakyReader{r, f, key}, err
}

type flakyReader struct {
	Reader
	f   *flaky
	key string
}

func (r *flakyReader) ReadAt(b []byte, offset int64) (int, error) {
	if err := r.f.fails("read", r.key); err != nil {
		return 0, err
	}
	return r.Reader.ReadAt(b, offset)
}

func (f *flaky) List(ctx context.Context, prefix string) ([]Object, error) {
	if err := f.fails("list", prefix); err != nil {
		return nil, err
	}
	return f.Store.List(ctx, prefix)
}

func (f *flaky) Delete(ctx context.Context, key string) error {
	if err := f.fails("delete", key); err != nil {
		return err
	}
	return f.Store.Delete(ctx, key)
}

func (f *flaky) Stat(ctx context.Context, key string) (Object, error) {
	if err := f.fails("read", key); err != nil {
		return Object{}, err
	}
	return f.Store.Stat(ctx, key)
}

// said keeps the messages of a patient store.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// An outage of ten minutes delays operations, does not change their results, and is reported once.
func TestPatientStoreOutlivesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, lines := &flaky{Store: newDirectory(t.TempDir())}, &said{}
		s := Patient(f, Patience{Unreachable: 15 * time.Minute, Refused: 30 * time.Second, Logf: lines.say})
		content := strings.Repeat("a whole object ", 1000)
		ctx := t.Context()
		for name, operation := range map[string]func() error{
			"put, seekable": func() error { return s.Put(ctx, "a/b", strings.NewReader(content), int64(len(content))) },
			"put, not seekable": func() error {
				return s.Put(ctx, "a/b", io.MultiReader(strings.NewReader(content)), int64(len(content)))
			},
			"list":   func() error { _, err := s.List(ctx, ""); return err },
			"stat":   func() error { _, err := s.Stat(ctx, "a/b"); return err },
			"delete": func() error { return s.Delete(ctx, "nothing") },
		} {
			require.NoError(t, s.Put(ctx, "a/b", strings.NewReader(content), int64(len(content))))
			lines.lines = nil
			begin := time.Now()
			f.away(10*time.Minute, Unreachable)
			before := Away(s)
			require.NoError(t, operation(), name)
			require.Equal(t, time.Since(begin), Away(s)-before, name)
			require.Zero(t, Away(f))
			require.GreaterOrEqual(t, time.Since(begin), 10*time.Minute)
			require.Less(t, time.Since(begin), 11*time.Minute)
			require.Len(t, lines.lines, 2, "%v", lines.lines)
			require.Contains(t, lines.lines[0], "waiting up to 15m0s for the storage: cannot")
			raw, err := readAll(ctx, s, "a/b")
			require.NoError(t, err)
			require.Equal(t, content, string(raw), name)
		}
	})
}

// Reading continues where it was; an object that was replaced in the meantime is not joined from
// two halves.
func TestPatientStoreReadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{Store: newDirectory(t.TempDir())}
		s := Patient(f, Patience{Unreachable: time.Minute})
		ctx := t.Context()
		content := strings.Repeat("0123456789", 10_000)
		require.NoError(t, s.Put(ctx, "x", strings.NewReader(content), int64(len(content))))
		f.half = true
		raw, err := readAll(ctx, s, "x")
		require.NoError(t, err)
		require.Equal(t, content, string(raw))

		f.half = true
		body, err := s.Get(ctx, "x")
		require.NoError(t, err)
		first := make([]byte, 10)
		_, err = io.ReadFull(body, first)
		require.NoError(t, err)
		other := strings.Repeat("abcdefghij", 10_000)
		require.NoError(t, s.Put(ctx, "x", strings.NewReader(other), int64(len(other))))
		_, err = io.ReadAll(body)
		require.ErrorContains(t, err, "replaced while it was being read")
		require.NoError(t, body.Close())

		r, err := s.ReaderAt(ctx, "x")
		require.NoError(t, err)
		f.away(30*time.Second, Unreachable)
		part := make([]byte, 10)
		_, err = r.ReadAt(part, 50)
		require.NoError(t, err)
		require.Equal(t, "abcdefghij", string(part))
	})
}

// breaking is a store whose bodies break off after some bytes each, and that knows how many of them
// are open.
type breaking struct {
	Store
	after []int // of the next bodies; those that follow are whole
	open  int
}

func (b *breaking) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	body, err := b.Store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	b.open++
	counted := &breakingBody{Reader: body, close: func() error {
		b.open--
		return body.Close()
	}}
	if len(b.after) > 0 {
		broken := &Error{Op: "read", URL: b.URL(key), Reason: Unreachable, Message: "connection reset"}
		counted.Reader = io.MultiReader(io.LimitReader(body, int64(b.after[0])), iotest.ErrReader(broken))
		b.after = b.after[1:]
	}
	return counted, nil
}

type breakingBody struct {
	io.Reader
	close func() error
}

func (b *breakingBody) Close() error { return b.close() }

// However often an object breaks off, also before the position where it did so first, its reader
// gets all bytes once, and no connection stays open.
func TestPatientStoreClosesWhatBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaking{Store: newDirectory(t.TempDir())}
		s := Patient(b, Patience{Unreachable: time.Hour})
		content := strings.Repeat("0123456789", 1000)
		put(t, s, "x", []byte(content))
		for _, after := range [][]int{nil, {0}, {5000}, {5000, 2000}, {5000, 5000, 0, 4999, 7000, 6999}} {
			b.after = after
			body, err := s.Get(t.Context(), "x")
			require.NoError(t, err)
			raw, err := io.ReadAll(body)
			require.NoError(t, err)
			require.Equal(t, content, string(raw), "%v", after)
			require.Equal(t, 1, b.open, "%v", after)
			require.NoError(t, body.Close())
			require.Zero(t, b.open)
		}

		b.after = []int{5000}
		body, err := s.Get(t.Context(), "x")
		require.NoError(t, err)
		_, err = io.ReadFull(body, make([]byte, 5000))
		require.NoError(t, err)
		put(t, s, "x", []byte(strings.Repeat("abcdefghij", 1000)))
		_, err = io.ReadAll(body)
		require.ErrorContains(t, err, "replaced")
		require.NoError(t, body.Close())
		require.Zero(t, b.open, "of an object that was replaced")
	})
}

// The time without answers grows while an outage lasts, and stays when it is over.
func TestAwayDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{Store: newDirectory(t.TempDir())}
		s := Patient(f, Patience{Unreachable: time.Hour})
		past := time.Duration(0)
		for range 2 {
			begin := time.Now()
			f.away(10*time.Minute, Unreachable)
			answered := make(chan error)
			go func() {
				_, err := s.List(t.Context(), "")
				answered <- err
			}()
			for range 3 {
				time.Sleep(3 * time.Minute) // of the test's own clock
				synctest.Wait()
				require.Equal(t, past+time.Since(begin), Away(s))
			}
			require.NoError(t, <-answered)
			past += time.Since(begin)
			time.Sleep(time.Hour)
			require.Equal(t, past, Away(s))
		}
	})
}

// One time limit applies to the whole outage, however many operations wait in it, and the final
// error is permanent.
func TestPatientStoreGivesUp(t *testing.T) {
	for why, limit := range map[Reason]time.Duration{
		Unreachable: 15 * time.Minute, AccessDenied: 30 * time.Second, CredentialsMissing: 30 * time.Second, BucketMissing: 30 * time.Second,
		Other: 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &flaky{Store: newDirectory(t.TempDir())}
			s := Patient(f, Patience{Unreachable: 15 * time.Minute, Refused: 30 * time.Second})
			f.away(24*time.Hour, why)
			begin := time.Now()
			errs := make([]error, 8)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() { _, errs[i] = s.List(t.Context(), "") })
			}
			all.Wait()
			for _, err := range errs {
				require.Equal(t, why, ReasonOf(err))
				require.False(t, MayPass(err))
			}
			require.GreaterOrEqual(t, time.Since(begin), limit)
			require.LessOrEqual(t, time.Since(begin), limit+time.Second)
			f.tries = 0
			_, err := s.Stat(t.Context(), "x")
			require.Equal(t, why, ReasonOf(err))
			require.Equal(t, 1, f.tries, "the time is up for all")
			require.LessOrEqual(t, time.Since(begin), limit+2*time.Second)
		})
	}
}

// Cancellation takes effect immediately.
func TestPatientStoreIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{Store: newDirectory(t.TempDir())}
		s := Patient(f, Patience{Unreachable: time.Hour})
		f.away(24*time.Hour, Unreachable)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := s.List(ctx, "")
		require.True(t, errors.Is(err, context.DeadlineExceeded))
	})
}
