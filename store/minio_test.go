package store

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A minioServer is a real MinIO on a free port of 127.0.0.1.
type minioServer struct {
	endpoint    string
	credentials string // directory
}

const (
	rootUser     = "cairn-test"
	rootPassword = "cairn-test-secret"
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

func minioBinary() (string, error) {
	cache := os.Getenv("CAIRN_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(home, ".cache", "cairn")
	}
	path := filepath.Join(cache, "bin", "minio")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: run `hack/test.sh install` (make test does)", path)
	}
	return path, nil
}

func startMinio() {
	server.err = func() error {
		binary, err := minioBinary()
		if err != nil {
			return err
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		address := listener.Addr().String()
		listener.Close()
		dir, err := os.MkdirTemp("", "cairn-minio-")
		if err != nil {
			return err
		}
		log, err := os.Create(filepath.Join(dir, "log"))
		if err != nil {
			return err
		}
		cmd := exec.Command(binary, "server", "--quiet", "--address", address, "--console-address", "127.0.0.1:0", filepath.Join(dir, "data"))
		cmd.Env = append(os.Environ(), "MINIO_ROOT_USER="+rootUser, "MINIO_ROOT_PASSWORD="+rootPassword, "MINIO_UPDATE=off", "MINIO_BROWSER=off", "HOME="+dir)
		cmd.Stdout, cmd.Stderr = log, log
		// the server must not outlive the test
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			return err
		}
		server.stop = func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			os.RemoveAll(dir)
		}
		server.endpoint = "http://" + address
		server.credentials = filepath.Join(dir, "credentials")
		if err := writeKeys(server.credentials, rootUser, rootPassword); err != nil {
			return err
		}
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			response, err := http.Get(server.endpoint + "/minio/health/live")
			if err == nil {
				response.Body.Close()
				if response.StatusCode == http.StatusOK {
					return nil
				}
			}
			if time.Now().After(deadline) {
				text, _ := os.ReadFile(log.Name())
				return fmt.Errorf("MinIO does not start: %w\n%s", err, text)
			}
		}
	}()
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
