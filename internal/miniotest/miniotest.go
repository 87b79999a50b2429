// Package miniotest starts real MinIO servers for tests.
package miniotest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// The administrator's key of a server, unless its environment overrides it.
const (
	RootUser     = "cairn-test"
	RootPassword = "cairn-test-secret"
)

// Start starts a server on a free port of 127.0.0.1 and returns its address. environment is added
// to the required variables.
func Start(environment ...string) (endpoint string, stop func(), err error) {
	binary, err := binary()
	if err != nil {
		return "", nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "cairn-minio-")
	if err != nil {
		return "", nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return "", nil, err
	}
	defer log.Close()
	cmd := exec.Command(binary, "server", "--quiet", "--address", address, "--console-address", "127.0.0.1:0", filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), "MINIO_ROOT_USER="+RootUser, "MINIO_ROOT_PASSWORD="+RootPassword, "MINIO_UPDATE=off", "MINIO_BROWSER=off", "HOME="+dir)
	cmd.Env = append(cmd.Env, environment...)
	cmd.Stdout, cmd.Stderr = log, log
	// the server must not outlive the test
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		os.RemoveAll(dir)
	}
	endpoint = "http://" + address
	if err := awaitServer(endpoint); err != nil {
		text, _ := os.ReadFile(log.Name())
		stop()
		return "", nil, fmt.Errorf("MinIO does not start: %w\n%s", err, text)
	}
	return endpoint, stop, nil
}

// binary returns the path at which `make test` installs MinIO.
func binary() (string, error) {
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
		return "", fmt.Errorf("%s is missing: run `hack/install.sh all` (make test does)", path)
	}
	return path, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// awaitServer waits until the server responds, including requests for users and policies.
func awaitServer(endpoint string) error {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get(endpoint + "/minio/health/cluster")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("it answers %s", response.Status)
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}
