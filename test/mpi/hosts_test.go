//go:build mpi

package mpi

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/network"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A site is a host from which jobs are started, and two on which ranks run, each with network, PID
// and mount namespaces of its own. They see the same files, but for what is private.
type site struct {
	*network.Network
	agent string // in place of ssh
	dir   string // shared, except for dir/tmp and dir/private
}

func newSite(t *testing.T) *site {
	t.Helper()
	n, err := network.New(3, network.Link{})
	require.NoError(t, err)
	t.Cleanup(n.Close)
	s := &site{Network: n, dir: t.TempDir()}
	for _, name := range []string{"tmp", "private"} {
		require.NoError(t, os.Mkdir(filepath.Join(s.dir, name), 0o755))
	}
	for _, h := range n.Hosts[1:] {
		shm, err := os.MkdirTemp("/dev/shm", "cairn-test-")
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(shm) })
		private := map[string]string{"/dev/shm": shm}
		for _, name := range []string{"tmp", "private"} {
			folder := s.of(h, name)
			require.NoError(t, os.MkdirAll(folder, 0o755))
			private[filepath.Join(s.dir, name)] = folder
		}
		require.NoError(t, h.Isolate(private))
	}
	s.agent, err = n.Agent(s.dir)
	require.NoError(t, err)
	return s
}

// of is where a private folder of a host is seen from here.
func (s *site) of(h *network.Host, name string) string { return filepath.Join(s.dir, h.Name, name) }

// start returns the command that starts a program on two hosts, two ranks on each.
func (s *site) start(implementation string, program ...string) []string {
	a, b := s.Hosts[1].Address.String(), s.Hosts[2].Address.String()
	command := []string{"mpirun.mpich", "-np", "4", "-hosts", a + "," + b, "-launcher", "ssh", "-launcher-exec", s.agent, "-iface", network.Device}
	if implementation == "openmpi" {
		command = []string{
			"mpirun.openmpi", "-np", "4", "--host", a + ":2," + b + ":2", "--bind-to", "none", "--mca", "plm_rsh_agent", s.agent,
			"--mca", "oob_tcp_if_include", network.Device, "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", network.Device,
			"--mca", "mpi_yield_when_idle", "1",
		}
	}
	return append(command, program...)
}

// run runs a command on a host.
func (s *site) run(t *testing.T, h *network.Host, command ...string) result {
	t.Helper()
	command = h.Command(append([]string{"env", "TMPDIR=" + filepath.Join(s.dir, "tmp"), "LD_PRELOAD=" + yield, shimtest.OwnSessions(t)}, command...)...)
	cmd := exec.Command(command[0], command[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &stdout, &stderr, s.dir
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	require.NotNil(t, cmd.ProcessState, err)
	return result{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

func cairnBinary() string { return filepath.Join(shimtest.Root(), "bin", "cairn") }

// requireTrace checks the trace of the ring on four ranks of two hosts.
func requireTrace(t *testing.T, dir string, r result) {
	t.Helper()
	trace := filepath.Join(dir, "trace.cairn")
	require.FileExists(t, trace, "%s%s", r.stdout, r.stderr)
	require.EqualValues(t, 4, info(t, trace)["ranks"], "%s%s", r.stdout, r.stderr)
	require.NoDirExists(t, filepath.Join(dir, "tracer"), r.stderr)
}

// `cairn run` traces ranks on other hosts, whether they see its folder or not. Nothing stays on a
// host.
func TestRunOnHosts(t *testing.T) {
	for _, implementation := range implementations {
		for _, folder := range []string{"shared", "private"} {
			t.Run(implementation+"/"+folder, func(t *testing.T) {
				s := newSite(t)
				out := filepath.Join(s.dir, folder, "out")
				program := s.start(implementation, shimtest.Example(implementation, "ring"))
				r := s.run(t, s.Hosts[0], append([]string{cairnBinary(), "run", "-o", out, "--verify", "--"}, program...)...)
				require.Zero(t, r.code, r.stderr)
				fmt.Println(r.stdout, r.stderr)
				require.Contains(t, r.stdout, "ring: 4 ranks")
				require.Contains(t, r.stdout, "hosts:  2;")
				requireTrace(t, out, r)
				for _, h := range s.Hosts[1:] {
					left, err := filepath.Glob(filepath.Join(s.of(h, "tmp"), "cairn-*", "*"))
					require.NoError(t, err)
					require.Empty(t, left)
				}
				_ = strings.TrimSpace
			})
		}
	}
}
