package minioadmin

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/store"
)

// startMinIO starts a real server with a bucket "traces", for one test.
func startMinIO(t *testing.T) Server {
	t.Helper()
	cache := os.Getenv("CAIRN_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		require.NoError(t, err)
		cache = filepath.Join(home, ".cache", "cairn")
	}
	binary := filepath.Join(cache, "bin", "minio")
	_, err := os.Stat(binary)
	require.NoError(t, err, "MinIO is missing: `make test` installs it")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())

	data := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(data, "traces"), 0o755))
	server := Server{Endpoint: "http://" + address, AccessKey: "root-user", SecretKey: "root-password"}
	command := exec.Command(binary, "server", "--quiet", "--address", address, data)
	command.Env = append(os.Environ(), "MINIO_ROOT_USER="+server.AccessKey, "MINIO_ROOT_PASSWORD="+server.SecretKey,
		"MINIO_UPDATE=off", "MINIO_BROWSER=off", "HOME="+data)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	require.Eventually(t, func() bool {
		response, err := http.Get(server.Endpoint + "/minio/health/live")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
	return server
}

// as opens a prefix of the bucket with a user's key.
func (s Server) as(t *testing.T, u User, prefix string) store.Store {
	t.Helper()
	keys := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(keys, "accessKey"), []byte(u.AccessKey), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(keys, "secretKey"), []byte(u.SecretKey), 0o600))
	opened, err := store.Open("s3://traces/"+prefix, store.S3Options{Endpoint: s.Endpoint, CredentialsDir: keys})
	require.NoError(t, err)
	return opened
}

func TestUsersAreLimitedToTheirPrefix(t *testing.T) {
	ctx := context.Background()
	server := startMinIO(t)
	users := map[string]User{}
	for _, namespace := range []string{"team-a", "team-b", "team"} {
		policy, err := PrefixPolicy("traces", "lab/"+namespace)
		require.NoError(t, err)
		user := User{AccessKey: "cairn-" + namespace, SecretKey: "secret-of-" + namespace, Policy: policy}
		require.Eventually(t, func() bool { err = server.EnsureUser(ctx, user); return err == nil },
			20*time.Second, 50*time.Millisecond, "%v", err)
		require.NoError(t, server.EnsureUser(ctx, user), "a second time changes nothing")
		users[namespace] = user
	}

	for _, namespace := range []string{"team-a", "team-b", "team"} {
		mine := server.as(t, users[namespace], "lab/"+namespace+"/job/uid")
		require.NoError(t, store.Check(ctx, mine))
		_, err := mine.Get(ctx, "missing")
		require.True(t, store.IsNotFound(err), "what is missing is told from what is forbidden: %v", err)
		content := []byte("trace")
		require.NoError(t, mine.Put(ctx, "a/b", bytes.NewReader(content), int64(len(content))))
		objects, err := mine.List(ctx, "")
		require.NoError(t, err)
		require.Len(t, objects, 1)
	}
	for mine, other := range map[string]string{"team-a": "team-b", "team": "team-a", "team-b": "team"} {
		theirs := server.as(t, users[mine], "lab/"+other+"/job/uid")
		for operation, err := range map[string]error{
			"write": store.Check(ctx, theirs),
			"read": func() error {
				body, err := theirs.Get(ctx, "a/b")
				if err == nil {
					body.Close()
				}
				return err
			}(),
			"list":   func() error { _, err := theirs.List(ctx, ""); return err }(),
			"delete": theirs.Delete(ctx, "a/b"),
			"list everything": func() error {
				_, err := server.as(t, users[mine], "").List(ctx, "")
				return err
			}(),
		} {
			require.Equal(t, store.AccessDenied, store.ReasonOf(err), "%s of %s by %s: %v", operation, other, mine, err)
		}
	}

	// A new key replaces the old one.
	old := users["team-a"]
	changed := old
	changed.SecretKey = "another-secret"
	require.NoError(t, server.EnsureUser(ctx, changed))
	require.NoError(t, store.Check(ctx, server.as(t, changed, "lab/team-a")))
	require.Error(t, store.Check(ctx, server.as(t, old, "lab/team-a")))
}

func TestWrongPassword(t *testing.T) {
	server := startMinIO(t)
	server.SecretKey = "guessed-it"
	policy, err := PrefixPolicy("traces", "x")
	require.NoError(t, err)
	user := User{AccessKey: "user", SecretKey: "password", Policy: policy}
	require.Eventually(t, func() bool {
		err = server.EnsureUser(context.Background(), user)
		return !strings.Contains(err.Error(), "not initialized")
	}, 20*time.Second, 50*time.Millisecond)
	require.ErrorContains(t, err, "403")
}

func TestSealRefusesLongRequests(t *testing.T) {
	_, err := seal("password", make([]byte, fragmentSize+1))
	require.Error(t, err)
}
