//go:build mpi

package mpi

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/network"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A site is a host from which jobs are started, and two on which ranks run, each with network, PID
// and mount namespaces of its own.
type site struct {
	*network.Site
	agent string // in place of ssh
}

func newSite(t *testing.T) *site {
	t.Helper()
	hosts, err := network.NewSite(t.TempDir(), 3, false, nil)
	require.NoError(t, err)
	t.Cleanup(hosts.Close)
	agent, err := hosts.Agent(hosts.Dir)
	require.NoError(t, err)
	return &site{hosts, agent}
}

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
	command = h.Command(append([]string{"env", "TMPDIR=" + filepath.Join(s.Dir, "tmp"), "LD_PRELOAD=" + yield, shimtest.OwnSessions(t)}, command...)...)
	cmd := exec.Command(command[0], command[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &stdout, &stderr, s.Dir
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	require.NotNil(t, cmd.ProcessState, err)
	return result{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

func cairnBinary() string { return filepath.Join(shimtest.Root(), "bin", "cairn") }

// requireTrace checks the trace of a program on four ranks of two hosts.
func requireTrace(t *testing.T, dir string, r result) {
	t.Helper()
	trace := filepath.Join(dir, "trace.cairn")
	require.FileExists(t, trace, "%s%s", r.stdout, r.stderr)
	require.EqualValues(t, 4, info(t, trace)["ranks"], "%s%s", r.stdout, r.stderr)
	require.NoDirExists(t, filepath.Join(dir, "tracer"), r.stderr)
}

// firstOf returns all cases, or with -short the first one.
func firstOf(cases ...string) []string {
	if testing.Short() {
		return cases[:1]
	}
	return cases
}

// requireNothingLeft checks that nothing stays on the hosts.
func (s *site) requireNothingLeft(t *testing.T) {
	t.Helper()
	for _, h := range s.Hosts[1:] {
		require.Empty(t, s.Left(h))
	}
}

// `cairn run` traces ranks on other hosts, whether these see its folder or not.
func TestRunOnHosts(t *testing.T) {
	for i, folder := range []string{"shared", "private"} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+folder, func(t *testing.T) {
				s := newSite(t)
				out := filepath.Join(s.Dir, folder, "out")
				program := s.start(implementation, shimtest.Example(implementation, "ring"))
				r := s.run(t, s.Hosts[0], append([]string{cairnBinary(), "run", "-o", out, "--verify", "--"}, program...)...)
				require.Zero(t, r.code, r.stderr)
				require.Empty(t, r.stderr)
				require.Contains(t, r.stdout, "ring: 4 ranks")
				require.Contains(t, r.stdout, "agree with the reference log")
				require.Contains(t, r.stdout, "hosts:  2;")
				requireTrace(t, out, r)
				s.requireNothingLeft(t)
			})
		}
	}
}

// buildGate builds gate/gate.c into a folder.
func buildGate(t *testing.T, implementation, folder string) string {
	t.Helper()
	program := filepath.Join(folder, "gate")
	out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-Wall", "-Werror", "-o", program, "gate/gate.c").CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// killCompressors waits until both hosts have a compressor, and ends them, as a batch system does
// that ends all processes of a step.
func (s *site) killCompressors(t *testing.T) {
	t.Helper()
	var found []int
	require.Eventually(t, func() bool {
		found = nil
		for _, p := range processes(t) {
			if strings.Contains(p.command, "compress-host\x00"+s.Dir) {
				found = append(found, p.pid)
			}
		}
		return len(found) == 2 && s.recorded() == 4
	}, 20*time.Second, 10*time.Millisecond)
	for _, pid := range found {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// recorded returns the number of traced processes on the hosts.
func (s *site) recorded() (n int) {
	for _, h := range s.Hosts[1:] {
		found, _ := filepath.Glob(filepath.Join(s.Of(h, "tmp"), "cairn-*", "*", "spool", "*", "process.json"))
		n += len(found)
	}
	return n
}

// The compressors of all hosts are killed while the job runs, which does not notice it. What the
// ranks have recorded is on the hosts: `cairn run` fetches it, and after `cairn exec` there is one
// command for it, on all hosts.
func TestCompressorsOfHostsAreKilled(t *testing.T) {
	for i, command := range firstOf("run", "exec") {
		for _, implementation := range shimtest.ImplementationsOf(i + 1) {
			t.Run(implementation+"/"+command, func(t *testing.T) {
				s := newSite(t)
				out := filepath.Join(s.Dir, "out")
				gate := filepath.Join(s.Dir, "open")
				program := []string{buildGate(t, implementation, s.Dir), gate}
				var words []string
				if command == "run" {
					words = append([]string{cairnBinary(), "run", "-o", out, "--"}, s.start(implementation, program...)...)
				} else {
					words = s.start(implementation, append([]string{cairnBinary(), "exec", "-o", out}, program...)...)
				}
				done := make(chan result)
				go func() { done <- s.run(t, s.Hosts[0], words...) }()
				s.killCompressors(t)
				require.NoError(t, os.WriteFile(gate, nil, 0o644))
				r := <-done
				require.Zero(t, r.code, r.stderr)
				require.Equal(t, 4, strings.Count(r.stdout, "gate: all ranks"))
				if command == "exec" {
					require.NoFileExists(t, filepath.Join(out, "trace.cairn"))
					r = s.run(t, s.Hosts[0], s.start(implementation, cairnBinary(), "finish", out)...)
					require.Zero(t, r.code, r.stderr)
				}
				require.Contains(t, r.stderr, "host host2: its compressor ended before its work was done")
				requireTrace(t, out, r)
				s.requireNothingLeft(t)
			})
		}
	}
}

// After `cairn exec` with a folder that hosts share, the last host makes the trace. Where they do
// not, each has its part in the folder, and one of them makes the trace of all when it has these.
func TestExecOnHosts(t *testing.T) {
	for i, folder := range firstOf("shared", "private") {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+folder, func(t *testing.T) {
				s := newSite(t)
				out := filepath.Join(s.Dir, folder, "out")
				r := s.run(t, s.Hosts[0], s.start(implementation, cairnBinary(), "exec", "-o", out, shimtest.Example(implementation, "ring"))...)
				require.Zero(t, r.code, r.stderr)
				require.Equal(t, 1, strings.Count(r.stderr, "cairn: "), r.stderr)
				if folder == "shared" {
					// nobody has asked for it
					require.Eventually(t, func() bool {
						_, err := os.Stat(filepath.Join(out, "report", "index.html"))
						return err == nil
					}, 20*time.Second, 20*time.Millisecond)
					r = s.run(t, s.Hosts[0], cairnBinary(), "finish", out)
					require.Zero(t, r.code, r.stderr)
					requireTrace(t, out, r)
					s.requireNothingLeft(t)
					return
				}
				one, other := s.Of(s.Hosts[1], "private"), s.Of(s.Hosts[2], "private")
				require.Eventually(t, func() bool {
					parts, _ := filepath.Glob(filepath.Join(s.Dir, "*", "private", "out", "tracer", "parts", "*.zst"))
					return len(parts) == 2
				}, 10*time.Second, 10*time.Millisecond)
				r = s.run(t, s.Hosts[1], cairnBinary(), "finish", out)
				require.Equal(t, 70, r.code, r.stderr)
				require.Regexp(t, "ranks (2-3|1,3) left no trace", r.stderr) // in blocks, or by turns
				require.Contains(t, r.stderr, "`cairn finish "+out+"` on their hosts adds them")
				require.NoError(t, os.CopyFS(filepath.Join(one, "out", "tracer", "parts"), os.DirFS(filepath.Join(other, "out", "tracer", "parts"))))
				r = s.run(t, s.Hosts[1], cairnBinary(), "finish", out)
				require.Zero(t, r.code, r.stderr)
				requireTrace(t, filepath.Join(one, "out"), r)
			})
		}
	}
}
