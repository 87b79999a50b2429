package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// stores are all implementations, each empty.
func stores(t *testing.T) map[string]func(t *testing.T) Store {
	open := func(t *testing.T, url string, o S3Options) Store {
		t.Helper()
		s, err := Open(url, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return map[string]func(t *testing.T) Store{
		"directory": func(t *testing.T) Store { return open(t, filepath.Join(t.TempDir(), "not", "yet"), S3Options{}) },
		"bucket":    func(t *testing.T) Store { m := minioForTest(t); return open(t, "s3://"+m.bucket(t), m.options()) },
		"prefix": func(t *testing.T) Store {
			m := minioForTest(t)
			return open(t, "s3://"+m.bucket(t)+"/some/prefix/", m.options())
		},
		"patient": func(t *testing.T) Store {
			return Patient(open(t, t.TempDir(), S3Options{}), Patience{Unreachable: time.Minute, Refused: time.Second})
		},
	}
}

func forAll(t *testing.T, test func(t *testing.T, s Store)) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func put(t *testing.T, s Store, key string, content []byte) {
	t.Helper()
	if err := s.Put(context.Background(), key, bytes.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s Store, key string) []byte {
	t.Helper()
	content, err := readAll(context.Background(), s, key)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestPutAndGet(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		large := make([]byte, 17<<20) // more than one part of an upload
		rand.New(rand.NewSource(1)).Read(large)
		for key, content := range map[string][]byte{"a": []byte("x"), "dir/empty": {}, "dir/sub/large.cairn": large} {
			put(t, s, key, content)
			if got := get(t, s, key); !bytes.Equal(got, content) {
				t.Errorf("%s: got %d bytes, want %d", key, len(got), len(content))
			}
			o, err := s.Stat(context.Background(), key)
			if err != nil || o.Size != int64(len(content)) || o.Key != key {
				t.Errorf("%s: stat %+v, %v", key, o, err)
			}
		}
		// a reader that cannot be rewound
		pieces := io.MultiReader(bytes.NewReader(large[:1<<20]), bytes.NewReader(large[1<<20:]))
		if err := s.Put(context.Background(), "pieces", pieces, int64(len(large))); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, "pieces"); !bytes.Equal(got, large) {
			t.Errorf("pieces: got %d bytes, want %d", len(got), len(large))
		}
		put(t, s, "a", []byte("replaced"))
		if got := get(t, s, "a"); string(got) != "replaced" {
			t.Errorf("got %q", got)
		}
	})
}

func TestMissing(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		_, err := s.Get(ctx, "no/such")
		if !IsNotFound(err) {
			t.Errorf("get: %v", err)
		}
		if _, err = s.ReaderAt(ctx, "no/such"); !IsNotFound(err) {
			t.Errorf("reader: %v", err)
		}
		if _, err = s.Stat(ctx, "no/such"); !IsNotFound(err) {
			t.Errorf("stat: %v", err)
		}
		if err = s.Delete(ctx, "no/such"); err != nil {
			t.Errorf("delete: %v", err)
		}
		objects, err := s.List(ctx, "no/")
		if err != nil || len(objects) > 0 {
			t.Errorf("list: %v, %v", objects, err)
		}
	})
}

func TestList(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		// sorted by bytes, which is not the order of a directory walk
		keys := []string{"a-b", "a/b-c/d", "a/b/c", "ab", "b"}
		for _, key := range keys {
			put(t, s, key, []byte(key))
		}
		for prefix, want := range map[string][]string{
			"": keys, "a/": {"a/b-c/d", "a/b/c"}, "a/b-": {"a/b-c/d"}, "a": {"a-b", "a/b-c/d", "a/b/c", "ab"}, "x": nil,
		} {
			objects, err := s.List(context.Background(), prefix)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.Key)
				if o.Size != int64(len(o.Key)) {
					t.Errorf("%s has size %d", o.Key, o.Size)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", prefix, got, want)
			}
		}
		if err := s.Delete(context.Background(), "b"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Stat(context.Background(), "b"); !IsNotFound(err) {
			t.Errorf("a deleted object: %v", err)
		}
	})
}

func TestManyObjects(t *testing.T) {
	t.Parallel()
	m := minioForTest(t)
	s, err := Open("s3://"+m.bucket(t)+"/p", m.options())
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for w := range 10 {
		wait.Go(func() {
			for i := range 110 { // more than one page of a listing
				if err := s.Put(context.Background(), fmt.Sprintf("%d/%d", w, i), strings.NewReader("x"), 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	objects, err := s.List(context.Background(), "")
	if err != nil || len(objects) != 1100 {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

func TestReaderAt(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		content := []byte("0123456789")
		put(t, s, "digits", content)
		r, err := s.ReaderAt(context.Background(), "digits")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if r.Size() != 10 {
			t.Errorf("size %d", r.Size())
		}
		for _, c := range []struct {
			off  int64
			n    int
			want string
			err  error
		}{
			{0, 10, "0123456789", nil}, {3, 4, "3456", nil}, {8, 4, "89", io.EOF}, {10, 1, "", io.EOF}, {99, 1, "", io.EOF}, {5, 0, "", nil}, {0, 11, "0123456789", io.EOF},
		} {
			p := make([]byte, c.n)
			n, err := r.ReadAt(p, c.off)
			if string(p[:n]) != c.want || !errors.Is(err, c.err) {
				t.Errorf("%d bytes at %d: %q, %v", c.n, c.off, p[:n], err)
			}
		}
		if _, err := r.ReadAt(make([]byte, 1), -1); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("negative offset: %v", err)
		}
	})
}

func TestShortContentLeavesNothing(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		if err := s.Put(context.Background(), "dir/short", strings.NewReader("abc"), 5); err == nil {
			t.Error("no error")
		}
		objects, err := s.List(context.Background(), "")
		if err != nil || len(objects) > 0 {
			t.Errorf("left %v, %v", objects, err)
		}
	})
}

func TestKeysStayInTheStore(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		for _, key := range []string{"", "/a", "../a", "..", "a/../../b", "a//b", "./a", "a/"} {
			if err := s.Put(context.Background(), key, strings.NewReader(""), 0); err == nil {
				t.Errorf("put %q: no error", key)
			}
			if _, err := s.Get(context.Background(), key); err == nil {
				t.Errorf("get %q: no error", key)
			}
		}
		if _, err := s.List(context.Background(), "../"); err == nil {
			t.Error("list ../: no error")
		}
	})
}

func TestCheck(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		if err := Check(context.Background(), s); err != nil {
			t.Error(err)
		}
		if objects, err := s.List(context.Background(), ""); err != nil || len(objects) > 0 {
			t.Errorf("left %v, %v", objects, err)
		}
	})
}

func TestCancelled(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Put(ctx, "a", strings.NewReader("a"), 1); !errors.Is(err, context.Canceled) {
			t.Errorf("put: %v", err)
		}
		if _, err := s.List(ctx, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("list: %v", err)
		}
	})
}

func TestURLNamesTheObject(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		put(t, s, "a/b", []byte("content"))
		m := S3Options{}
		if IsRemote(s.URL("a/b")) {
			m = minioForTest(t).options()
		}
		r, err := OpenFile(context.Background(), s.URL("a/b"), m)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p := make([]byte, 7)
		if _, err := r.ReadAt(p, 0); err != nil || string(p) != "content" {
			t.Errorf("%q, %v", p, err)
		}
	})
}

func TestOneObjectWhileItIsReplaced(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		put(t, s, "a", []byte("first content"))
		r, err := s.ReaderAt(context.Background(), "a")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		put(t, s, "a", []byte("second"))
		p := make([]byte, 5)
		// the old bytes, or an error: never a mixture
		if n, err := r.ReadAt(p, 0); err == nil && string(p[:n]) != "first" {
			t.Errorf("read %q", p[:n])
		}
	})
}

func TestVersionsTellContents(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		version := func() string {
			t.Helper()
			stat, err := s.Stat(context.Background(), "a/b")
			if err != nil {
				t.Fatal(err)
			}
			list, err := s.List(context.Background(), "a/")
			if err != nil || len(list) != 1 || list[0] != stat {
				t.Fatalf("list %+v, stat %+v, %v", list, stat, err)
			}
			return stat.Version
		}
		seen := map[string]bool{}
		for n := range 5 {
			put(t, s, "a/b", []byte(fmt.Sprintf("content %d", n))) // all of one size
			v := version()
			if v == "" || seen[v] || v != version() {
				t.Errorf("version %q of content %d; before: %v", v, n, seen)
			}
			seen[v] = true
		}
	})
}

// A conditional write succeeds if and only if the object has the version that the writer knows.
func TestPutIf(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		putIf := func(key, content, version string) (string, error) {
			return s.PutIf(ctx, key, strings.NewReader(content), int64(len(content)), version)
		}
		if _, err := putIf("a/b", "x", "of nothing"); ReasonOf(err) != Changed {
			t.Errorf("a version of what is not there: %v", err)
		}
		first, err := putIf("a/b", "first", "")
		if err != nil {
			t.Fatal(err)
		}
		if o, err := s.Stat(ctx, "a/b"); err != nil || o.Version != first {
			t.Errorf("stat %+v, %v, and version %q", o, err, first)
		}
		if _, err := putIf("a/b", "again", ""); ReasonOf(err) != Changed {
			t.Errorf("twice the first: %v", err)
		}
		second, err := putIf("a/b", "second", first)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := putIf("a/b", "late", first); ReasonOf(err) != Changed || MayPass(err) {
			t.Errorf("late: %v", err)
		}
		put(t, s, "a/b", []byte("without"))
		if _, err := putIf("a/b", "late", second); ReasonOf(err) != Changed {
			t.Errorf("after a write without a condition: %v", err)
		}
		if got := get(t, s, "a/b"); string(got) != "without" {
			t.Errorf("got %q", got)
		}
		objects, err := s.List(ctx, "")
		if err != nil || len(objects) != 1 {
			t.Errorf("%+v, %v", objects, err)
		}
	})
}

// Several writers that each add one to a number: none is lost.
func TestPutIfCounts(t *testing.T) {
	forAll(t, func(t *testing.T, s Store) {
		ctx := context.Background()
		const writers, each = 6, 5
		var wait sync.WaitGroup
		for range writers {
			wait.Go(func() {
				for done := 0; done < each; {
					// the version is read first: what is replaced after it is newer
					o, err := s.Stat(ctx, "n")
					if err != nil && !IsNotFound(err) {
						t.Error(err)
						return
					}
					n := 0
					if err == nil {
						content, err := readAll(ctx, s, "n")
						if err != nil {
							t.Error(err)
							return
						}
						_, _ = fmt.Sscan(string(content), &n)
					}
					text := fmt.Sprint(n + 1)
					switch _, err := s.PutIf(ctx, "n", strings.NewReader(text), int64(len(text)), o.Version); ReasonOf(err) {
					case "":
						done++
					case Changed:
					default:
						t.Error(err)
						return
					}
				}
			})
		}
		wait.Wait()
		if got := string(get(t, s, "n")); got != fmt.Sprint(writers*each) {
			t.Errorf("%s, not %d", got, writers*each)
		}
	})
}

// A store without conditions returns an error, or ignores them: both are detected, and never taken
// for success.
func TestStoreWithoutConditions(t *testing.T) {
	for name, c := range map[string]struct {
		answer   func(w http.ResponseWriter)
		requests int32
	}{
		"ignores": {func(w http.ResponseWriter) { w.Header().Set("ETag", `"always"`) }, 2},
		"refuses": {func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = io.WriteString(w, "<Error><Code>NotImplemented</Code><Message>If-None-Match</Message></Error>")
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				c.answer(w)
			}))
			defer server.Close()
			keys := t.TempDir()
			if err := writeKeys(keys, "access", "secret"); err != nil {
				t.Fatal(err)
			}
			s, err := Open("s3://bucket", S3Options{Endpoint: server.URL, CredentialsDir: keys, Region: "us-east-1"})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := s.PutIf(context.Background(), "a", strings.NewReader("a"), 1, ""); ReasonOf(err) != Unsupported {
					t.Errorf("%v", err)
				}
			}
			// what is known is not asked again: a question may replace the object
			if n := requests.Load(); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
		})
	}
}
