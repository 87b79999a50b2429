package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cairn-mpi/cairn/internal/miniotest"
)

// A minioServer is a real MinIO on a free port of 127.0.0.1.
type minioServer struct {
	endpoint    string
	credentials string // directory
}

const (
	rootUser     = miniotest.RootUser
	rootPassword = miniotest.RootPassword
)

var server struct {
	sync.Once
	minioServer
	stop func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

// minioForTest starts the server that all tests share.
func minioForTest(t *testing.T) minioServer {
	t.Helper()
	server.Do(startMinio)
	if server.err != nil {
		t.Fatal(server.err)
	}
	return server.minioServer
}

func startMinio() {
	server.minioServer, server.stop, server.err = runMinio()
}

// runMinio starts a server with more environment than it needs.
func runMinio(environment ...string) (m minioServer, stop func(), err error) {
	endpoint, kill, err := miniotest.Start(environment...)
	if err != nil {
		return m, nil, err
	}
	m.endpoint = endpoint
	m.credentials, err = os.MkdirTemp("", "cairn-keys-")
	if err == nil {
		err = writeKeys(m.credentials, rootUser, rootPassword)
	}
	return m, func() {
		kill()
		os.RemoveAll(m.credentials)
	}, err
}

func writeKeys(dir, access, secret string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "accessKey"), []byte(access+"\n"), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "secretKey"), []byte(secret), 0o600)
}

// options reach the server with the root user's key.
func (m minioServer) options() S3Options {
	return S3Options{Endpoint: m.endpoint, CredentialsDir: m.credentials}
}

var buckets int

// bucket makes a bucket of its own for a test.
func (m minioServer) bucket(t *testing.T) string {
	t.Helper()
	buckets++
	name := fmt.Sprintf("bucket-%d", buckets)
	if err := MakeBucket(context.Background(), "s3://"+name, m.options()); err != nil {
		t.Fatal(err)
	}
	return name
}
