package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
	"github.com/cairn-mpi/cairn/store"
)

// A testMinio is a real MinIO that can be killed and started again with its data.
type testMinio struct {
	*testing.T
	dir, address string
	server       *exec.Cmd
}

func newTestMinio(t *testing.T) *testMinio {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m := &testMinio{T: t, dir: t.TempDir(), address: listener.Addr().String()}
	require.NoError(t, listener.Close())
	keys := m.keys()
	require.NoError(t, os.MkdirAll(keys, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(keys, "accessKey"), []byte("cairn-test"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(keys, "secretKey"), []byte("cairn-test-secret"), 0o600))
	require.NoError(t, m.start())
	t.Cleanup(m.kill)
	return m
}

func (m *testMinio) keys() string { return filepath.Join(m.dir, "keys") }

// start returns when the server answers.
func (m *testMinio) start() error {
	cache := os.Getenv("CAIRN_CACHE")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(home, ".cache", "cairn")
	}
	binary := filepath.Join(cache, "bin", "minio") // hack/install.sh all (make test does)
	m.server = exec.Command(binary, "server", "--quiet", "--address", m.address, "--console-address", "127.0.0.1:0", filepath.Join(m.dir, "data"))
	m.server.Env = append(os.Environ(), "MINIO_ROOT_USER=cairn-test", "MINIO_ROOT_PASSWORD=cairn-test-secret", "MINIO_UPDATE=off", "MINIO_BROWSER=off", "HOME="+m.dir)
	m.server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.server.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get("http://" + m.address + "/minio/health/cluster")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("MinIO does not start: %w", err)
		}
	}
}

func (m *testMinio) kill() {
	_ = m.server.Process.Kill()
	_ = m.server.Wait()
}

func (m *testMinio) flags(arguments ...string) []string {
	return append(arguments, "--s3-endpoint", "http://"+m.address, "--s3-credentials-dir", m.keys())
}

// A storage that does not respond at any step only delays that step. The wait is reported once.
func TestJobOutlivesAStorageThatIsAway(t *testing.T) {
	t.Parallel()
	m := newTestMinio(t)
	require.NoError(t, store.MakeBucket(t.Context(), "s3://traces", store.S3Options{Endpoint: "http://" + m.address, CredentialsDir: m.keys()}))
	const job = "s3://traces/team/stencil/uid"
	_, err := cairntest.Run(t, m.flags("simulate", "--ranks", "4", "--slow-rank", "1", "--slow-percent", "300", "--store", job)...)
	require.NoError(t, err)
	verdict := ""
	for _, command := range [][]string{
		{"merge", "--job", "--collect-timeout", "1"},
		{"analyze", "--job", "--analysis", "critical-path", "--index", "0", "--of", "1"},
		{"analyze", "--job", "--analysis", "clusters", "--index", "0"},
		{"report", "--job", "--wait", "--analyses", "critical-path,clusters"},
		{"delete-prefix"},
	} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			m.kill()
			const away = time.Second
			back := make(chan error, 1)
			time.AfterFunc(away, func() { back <- m.start() })
			var printed, said bytes.Buffer
			c := commands.Root()
			c.SetOut(&printed)
			c.SetErr(&said)
			c.SetArgs(m.flags(append(command, "--store", job)...))
			begin := time.Now()
			err := c.ExecuteContext(t.Context())
			require.NoError(t, <-back)
			require.NoError(t, err, "%s", said.String())
			require.GreaterOrEqual(t, time.Since(begin), away)
			require.Equal(t, 1, strings.Count(said.String(), "waiting up to 15m0s for the storage"), said.String())
			require.Equal(t, 1, strings.Count(said.String(), "the storage answers again"))
			if command[0] == "report" {
				var message messages.Report
				require.NoError(t, json.Unmarshal(printed.Bytes(), &message))
				verdict = message.Verdict
			}
		})
	}
	require.Contains(t, verdict, "Rank 1 ")
}

// A refused key is retried for as long as a new key may need, and no longer: the merge does not
// wait its whole time.
func TestRefusedKeyEndsTheMerge(t *testing.T) {
	t.Parallel()
	m := newTestMinio(t)
	require.NoError(t, store.MakeBucket(t.Context(), "s3://traces", store.S3Options{Endpoint: "http://" + m.address, CredentialsDir: m.keys()}))
	require.NoError(t, os.WriteFile(filepath.Join(m.keys(), "secretKey"), []byte("another-secret"), 0o600))
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := commands.Root()
	var printed bytes.Buffer
	c.SetOut(&printed)
	c.SetErr(&printed)
	c.SetArgs(m.flags("merge", "--job", "--collect-timeout", "600", "--patience", "2", "--store", "s3://traces/job"))
	err := c.ExecuteContext(ctx)
	code, _ := cli.ExitCode(err)
	require.Equal(t, messages.ExitRefused, code, "%v", err)
	require.Less(t, time.Since(begin), 30*time.Second)
	require.Contains(t, printed.String(), fmt.Sprintf("%q:%q", "reason", "AccessDenied"))
}
