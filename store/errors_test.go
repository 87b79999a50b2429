package store

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// expect runs Check and compares the reason; the message must name what to do.
func expect(t *testing.T, url string, o S3Options, reason Reason, words ...string) {
	t.Helper()
	s, err := Open(url, o)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = Check(ctx, s)
	}
	if ReasonOf(err) != reason {
		t.Fatalf("reason %q of %v, want %q", ReasonOf(err), err, reason)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), rootPassword) {
		t.Errorf("the message has the secret: %v", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the message has several lines: %q", err)
	}
}

func TestErrorsOfARealServer(t *testing.T) {
	m := minioForTest(t)
	url := "s3://" + m.bucket(t)
	t.Run("bucket missing", func(t *testing.T) {
		expect(t, "s3://no-such-bucket/x", m.options(), BucketMissing, "no-such-bucket")
	})
	t.Run("unknown key", func(t *testing.T) {
		o := m.options()
		o.CredentialsDir = t.TempDir()
		if err := writeKeys(o.CredentialsDir, "nobody", rootPassword); err != nil {
			t.Fatal(err)
		}
		expect(t, url, o, AccessDenied, "access key")
	})
	t.Run("wrong secret", func(t *testing.T) {
		o := m.options()
		o.CredentialsDir = t.TempDir()
		if err := writeKeys(o.CredentialsDir, rootUser, "wrong-secret"); err != nil {
			t.Fatal(err)
		}
		expect(t, url, o, AccessDenied, "secret key")
	})
	t.Run("TLS to a plain server", func(t *testing.T) {
		o := m.options()
		o.Endpoint = strings.Replace(o.Endpoint, "http:", "https:", 1)
		expect(t, url, o, Unreachable, "http://")
	})
	t.Run("keys that appear and change", func(t *testing.T) {
		o := m.options()
		o.CredentialsDir = filepath.Join(t.TempDir(), "mounted")
		s, err := Open(url, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(context.Background(), s); ReasonOf(err) != CredentialsMissing {
			t.Errorf("before: %v", err)
		}
		if err := writeKeys(o.CredentialsDir, rootUser, "wrong"); err != nil {
			t.Fatal(err)
		}
		if err := Check(context.Background(), s); ReasonOf(err) != AccessDenied {
			t.Errorf("wrong: %v", err)
		}
		if err := writeKeys(o.CredentialsDir, rootUser, rootPassword); err != nil {
			t.Fatal(err)
		}
		if err := Check(context.Background(), s); err != nil {
			t.Errorf("after: %v", err)
		}
	})
	t.Run("make a bucket twice", func(t *testing.T) {
		for range 2 {
			if err := MakeBucket(context.Background(), "s3://made-twice", m.options()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestCredentialsMissing(t *testing.T) {
	dir := t.TempDir()
	expect(t, "s3://bucket", S3Options{Endpoint: "http://127.0.0.1:1", CredentialsDir: dir}, CredentialsMissing, filepath.Join(dir, "accessKey"))
	if err := writeKeys(dir, "", "x"); err != nil {
		t.Fatal(err)
	}
	expect(t, "s3://bucket", S3Options{Endpoint: "http://127.0.0.1:1", CredentialsDir: dir}, CredentialsMissing, "empty")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	expect(t, "s3://bucket", S3Options{Endpoint: "http://127.0.0.1:1"}, CredentialsMissing, "AWS_ACCESS_KEY_ID")
}

// fake is a server that answers every request in the same way.
func fake(t *testing.T, status int, code string) S3Options {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>said the fake</Message></Error>"))
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	if err := writeKeys(dir, "key", rootPassword); err != nil {
		t.Fatal(err)
	}
	return S3Options{Endpoint: server.URL, CredentialsDir: dir}
}

func TestErrorsByAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		want   Reason
	}{
		{403, "AccessDenied", AccessDenied},
		{403, "InvalidAccessKeyId", AccessDenied},
		{403, "SignatureDoesNotMatch", AccessDenied},
		{403, "RequestTimeTooSkewed", AccessDenied},
		{403, "SomethingNew", AccessDenied},
		{401, "", AccessDenied},
		{404, "NoSuchBucket", BucketMissing},
		{400, "AuthorizationHeaderMalformed", Other},
		{400, "Strange", Other},
		{507, "XMinioStorageFull", Other},
		{503, "SlowDown", Unreachable},
		{500, "InternalError", Unreachable},
		{502, "", Unreachable},
	} {
		t.Run(c.code, func(t *testing.T) { expect(t, "s3://bucket", fake(t, c.status, c.code), c.want) })
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeKeys(dir, "key", rootPassword); err != nil {
		t.Fatal(err)
	}
	t.Run("refused", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		listener.Close()
		expect(t, "s3://bucket", S3Options{Endpoint: "http://" + address, CredentialsDir: dir}, Unreachable, address, "refused")
	})
	t.Run("no such name", func(t *testing.T) {
		expect(t, "s3://bucket", S3Options{Endpoint: "http://no-such-host.invalid", CredentialsDir: dir}, Unreachable, "no-such-host.invalid")
	})
	t.Run("silent", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		s, err := Open("s3://bucket", S3Options{Endpoint: "http://" + listener.Addr().String(), CredentialsDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := Check(ctx, s); ReasonOf(err) != Unreachable || !MayPass(err) {
			t.Errorf("%v", err)
		}
	})
	t.Run("unknown authority", func(t *testing.T) {
		server := httptest.NewTLSServer(http.NotFoundHandler())
		defer server.Close()
		expect(t, "s3://bucket", S3Options{Endpoint: server.URL, CredentialsDir: dir}, Unreachable, "CA certificate")
	})
}

func TestDirectoryErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(file, S3Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(context.Background(), s); err == nil {
		t.Error("a file is no store")
	}
	s, err = Open("/proc/nowhere", S3Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(context.Background(), s); err == nil {
		t.Error("/proc is no store")
	}
}

func TestReasonOf(t *testing.T) {
	if ReasonOf(nil) != "" || ReasonOf(errors.New("x")) != Other || MayPass(nil) || MayPass(errors.New("x")) {
		t.Error("reasons")
	}
}
