package chart

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/cairn-mpi/cairn/test/built"
)

// A door forwards connections to the API server until it is shut.
type door struct {
	net.Listener
	sync.Mutex
	open []net.Conn
	shut bool
}

func newDoor(t *testing.T, to string) *door {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	d := &door{Listener: listener}
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				t.Errorf("the API server is not at %s: %v", to, err)
				in.Close()
				continue
			}
			d.Lock()
			if d.shut {
				in.Close()
				out.Close()
			} else {
				d.open = append(d.open, in, out)
				go func() { _, _ = io.Copy(in, out) }()
				go func() { _, _ = io.Copy(out, in) }()
			}
			d.Unlock()
		}
	}()
	return d
}

func (d *door) close() {
	d.Lock()
	defer d.Unlock()
	d.shut = true
	for _, c := range d.open {
		c.Close()
	}
}

// throughDoor is an administrator's kubeconfig for the API server behind a door.
func throughDoor(t *testing.T, d *door) string {
	t.Helper()
	raw, err := server.Kubeconfig()
	require.NoError(t, err)
	var config map[string]any
	require.NoError(t, yaml.Unmarshal(raw, &config))
	cluster := config["clusters"].([]any)[0].(map[string]any)["cluster"].(map[string]any)
	cluster["server"] = "https://" + d.Addr().String()
	raw, err = json.Marshal(config)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}

// TestHealthDoesNotNeedTheAPIServer: restarting the operator while the API server does not respond
// would make things worse.
func TestHealthDoesNotNeedTheAPIServer(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(server.Config.Host)
	require.NoError(t, err)
	d := newDoor(t, address.Host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	health := listener.Addr().String()
	listener.Close()

	// as the chart runs it, except for addresses
	arguments := deployment(t, template(t), "cairn-operator").Spec.Template.Spec.Containers[0].Args
	operator := exec.Command(built.Command(t, "cairn-operator"), append(arguments, "--metrics-address=0", "--health-address="+health)...)
	operator.Env = append(os.Environ(), "KUBECONFIG="+throughDoor(t, d))
	operator.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	operator.Stderr = os.Stderr
	require.NoError(t, operator.Start())
	t.Cleanup(func() {
		_ = operator.Process.Kill()
		_ = operator.Wait()
	})
	alive := func() bool {
		response, err := http.Get("http://" + health + "/healthz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	require.Eventually(t, alive, time.Minute, 100*time.Millisecond)
	d.close()
	for start := time.Now(); time.Since(start) < 5*time.Second; time.Sleep(100 * time.Millisecond) {
		require.True(t, alive(), "without the API server")
	}
}
