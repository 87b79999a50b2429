//go:build slurm

package slurm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/network"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

const (
	user, group = "nobody", "nogroup"

	configuration = `
ClusterName=cairn
SlurmctldHost=host1(10.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/daemons/munge.socket
CredType=cred/munge
ProctrackType=%[2]s
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=%[1]s/daemons/state
SlurmdSpoolDir=%[1]s/private/slurmd
SlurmctldPidFile=%[1]s/daemons/slurmctld.pid
SlurmdPidFile=%[1]s/private/slurmd.pid
SlurmctldLogFile=%[1]s/daemons/slurmctld.log
SlurmdLogFile=%[1]s/private/slurmd.log
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=host2 NodeAddr=10.0.0.2 CPUs=4
NodeName=host3 NodeAddr=10.0.0.3 CPUs=4
PartitionName=all Nodes=host2,host3 Default=YES MaxTime=INFINITE State=UP
`
	names = "127.0.0.1 localhost\n10.0.0.1 host1\n10.0.0.2 host2\n10.0.0.3 host3\n"
)

// A cluster has a controller and two nodes.
type cluster struct {
	*network.Site
	daemons []*exec.Cmd
}

// newCluster starts a cluster that keeps track of a step's processes by the given plugin.
func newCluster(t *testing.T, tracking string) *cluster {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{filepath.Dir(dir), dir} { // for the user
		require.NoError(t, os.Chmod(folder, 0o755))
	}
	write := func(name, words string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(words), mode))
		return path
	}
	site, err := network.NewSite(dir, 3, true, map[string]string{"/etc/hosts": write("hosts", names, 0o644)})
	require.NoError(t, err)
	c := &cluster{Site: site}
	t.Cleanup(c.end)
	key := write("daemons/munge.key", strings.Repeat("0123456789abcdef", 4), 0o600)
	write("daemons/slurm.conf", fmt.Sprintf(configuration, dir, tracking), 0o644)
	write("daemons/cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n", 0o644)
	write("daemons/mpi.conf", "PMIxCliTmpDirBase="+filepath.Join(dir, "tmp")+"\n", 0o644)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "daemons", "state"), 0o755))
	for _, h := range c.Hosts[1:] {
		require.NoError(t, os.Mkdir(filepath.Join(c.Of(h, "private"), "slurmd"), 0o755))
	}
	socket := filepath.Join(dir, "daemons", "munge.socket")
	c.start(t, c.Hosts[0], "munged", "--foreground", "--force", "--key-file="+key, "--socket="+socket,
		"--pid-file="+socket+".pid", "--seed-file="+socket+".seed", "--log-file="+socket+".log")
	require.Eventually(t, func() bool { _, err := os.Stat(socket); return err == nil }, 20*time.Second, 50*time.Millisecond)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "jobs"), 0o777))
	require.NoError(t, os.Chmod(filepath.Join(dir, "jobs"), 0o777))
	c.start(t, c.Hosts[0], "slurmctld", "-D")
	for _, h := range c.Hosts[1:] {
		c.start(t, h, "slurmd", "-D")
	}
	t.Cleanup(func() { c.showLogs(t) })
	require.Eventually(t, func() bool {
		out, _ := c.command(c.Hosts[0], "sinfo", "-h", "-o", "%D %T").Output()
		return strings.TrimSpace(string(out)) == "2 idle"
	}, 15*time.Second, 200*time.Millisecond, "the nodes do not start")
	return c
}

// showLogs shows the ends of the daemons' logs if the test has failed.
func (c *cluster) showLogs(t *testing.T) {
	if !t.Failed() {
		return
	}
	for _, pattern := range []string{"*.log", "daemons/*.log", "*/private/*.log"} {
		paths, _ := filepath.Glob(filepath.Join(c.Dir, pattern))
		for _, path := range paths {
			raw, _ := os.ReadFile(path)
			t.Logf("%s:\n%s", path, raw[max(0, len(raw)-4000):])
		}
	}
}

func (c *cluster) command(h *network.Host, words ...string) *exec.Cmd {
	words = h.Command(append([]string{"env", "SLURM_CONF=" + filepath.Join(c.Dir, "daemons", "slurm.conf"), "TMPDIR=" + filepath.Join(c.Dir, "tmp")}, words...)...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = c.Dir
	return cmd
}

func (c *cluster) start(t *testing.T, h *network.Host, words ...string) {
	t.Helper()
	cmd := c.command(h, words...)
	log, err := os.Create(filepath.Join(c.Dir, h.Name+"-"+words[0]+".log"))
	require.NoError(t, err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	c.daemons = append(c.daemons, cmd)
}

// end ends all processes of the hosts, the daemons with them.
func (c *cluster) end() {
	c.Close()
	for _, cmd := range c.daemons {
		_ = cmd.Wait()
	}
}

// run runs a command as the user on the host from which jobs are started.
func (c *cluster) run(t *testing.T, words ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := c.command(c.Hosts[0], append([]string{
		"timeout", "60", "setpriv", "--reuid=" + user, "--regid=" + group, "--clear-groups", "env", "HOME=/", "LD_PRELOAD=" + shimtest.Yield(), "EXAMPLES_SLEEP=1",
		"UCX_TLS=tcp,self", "UCX_NET_DEVICES=" + network.Device, "OMPI_MCA_btl=tcp,self", "OMPI_MCA_btl_tcp_if_include=" + network.Device, "OMPI_MCA_mpi_yield_when_idle=1",
	}, words...)...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	cmd.WaitDelay = 5 * time.Second
	_ = cmd.Run()
	require.NotNil(t, cmd.ProcessState)
	return cmd.ProcessState.ExitCode(), out.String(), problems.String()
}

// srun starts four tasks on two nodes.
var srun = []string{"srun", "-N", "2", "-n", "4", "--ntasks-per-node=2", "--mpi=pmix"}

func cairn() string { return filepath.Join(shimtest.Root(), "bin", "cairn") }

// jobs is where the user's files are: all nodes see it.
func (c *cluster) jobs(name string) string { return filepath.Join(c.Dir, "jobs", name) }

// requireTrace checks the trace of the ring on four ranks.
func (c *cluster) requireTrace(t *testing.T, out, printed string) {
	t.Helper()
	require.Contains(t, printed, "136 calls of 4 ranks")
	require.Contains(t, printed, "hosts:  2;")
	require.FileExists(t, filepath.Join(out, "trace.cairn"))
	require.NoDirExists(t, filepath.Join(out, "tracer"))
	for _, h := range c.Hosts {
		require.Empty(t, c.Left(h))
	}
}

// Tasks of srun are traced with `cairn exec`, and with `cairn run`, which puts it there, whether
// the nodes see the folder of `cairn run` or not. Two steps of a job at the same time are two runs.
func TestSrun(t *testing.T) {
	c := newCluster(t, "proctrack/linuxproc")
	program := shimtest.Example("openmpi", "ring")
	t.Run("exec", func(t *testing.T) {
		script := fmt.Sprintf(`for i in 1 2; do %s --overlap -O %s exec %s & done; wait`, strings.Join(srun, " "), cairn(), program)
		code, stdout, stderr := c.run(t, "salloc", "-N", "2", "--ntasks-per-node=4", "-Q", "sh", "-c", "cd "+c.jobs("")+" && "+script)
		require.Zero(t, code, stderr)
		require.Equal(t, 2, strings.Count(stdout, "ring: 4 ranks"), stderr)
		folders, err := filepath.Glob(c.jobs("cairn-slurm-*"))
		require.NoError(t, err)
		require.Len(t, folders, 2, stderr)
		for _, out := range folders {
			require.Contains(t, stderr, "cairn: tracing to "+out+"; after the job, `cairn finish "+out+"`")
			code, _, stderr := c.run(t, cairn(), "finish", out)
			require.Zero(t, code, stderr)
			code, stdout, stderr = c.run(t, cairn(), "info", filepath.Join(out, "trace.cairn"))
			require.Zero(t, code, stderr)
			require.Contains(t, stdout, "136")
		}
	})
	for _, folder := range []string{"jobs", "private"} {
		t.Run("run/"+folder, func(t *testing.T) {
			out := filepath.Join(c.Dir, folder, "out")
			// outside of an allocation, where the nodes see the folder
			command := slices.Concat([]string{cairn(), "run", "-o", out, "--"}, srun, []string{"-o", c.jobs(folder + ".log"), program})
			if folder == "private" {
				command = append([]string{"salloc", "-N", "2", "--ntasks-per-node=2", "-Q"}, command...)
			}
			code, stdout, stderr := c.run(t, command...)
			require.Zero(t, code, stderr)
			log, err := os.ReadFile(c.jobs(folder + ".log"))
			require.NoError(t, err)
			require.Contains(t, string(log), "ring: 4 ranks")
			if folder == "private" {
				out = filepath.Join(c.Of(c.Hosts[0], "private"), "out")
			}
			c.requireTrace(t, out, stdout)
		})
	}
}

// A batch system that ends all processes of a step with its last task ends the compressors, too.
// `cairn finish` as a step of its own makes the trace of what they leave.
func TestCompressorsThatEndWithTheStep(t *testing.T) {
	c := newCluster(t, "proctrack/linuxproc")
	program, gate := []string{c.jobs("gate"), c.jobs("open")}, c.jobs("open")
	built, err := exec.Command("mpicc.openmpi", "-O1", "-o", program[0], "../mpi/gate/gate.c").CombinedOutput()
	require.NoError(t, err, string(built))
	out := c.jobs("out")
	done := make(chan struct{})
	go func() {
		defer close(done)
		code, stdout, stderr := c.run(t, slices.Concat(srun, []string{cairn(), "exec", "-o", out}, program)...)
		assert.Zero(t, code, stderr)
		assert.Equal(t, 4, strings.Count(stdout, "gate: all ranks"))
	}()
	require.Eventually(t, func() bool {
		var found []string
		for _, h := range c.Hosts[1:] {
			spools, _ := filepath.Glob(filepath.Join(c.Of(h, "tmp"), "cairn-*", "*", "spool", "*", "process.json"))
			found = append(found, spools...)
		}
		return len(found) == 4
	}, 20*time.Second, 10*time.Millisecond)
	for _, h := range c.Hosts[1:] {
		words := h.Command("pkill", "-KILL", "-f", "compress-host")
		require.NoError(t, exec.Command(words[0], words[1:]...).Run())
	}
	require.NoError(t, os.WriteFile(gate, nil, 0o644))
	<-done
	code, stdout, stderr := c.run(t, slices.Concat(srun, []string{cairn(), "finish", out})...)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "its compressor ended before its work was done")
	require.Contains(t, stdout, "calls of 4 ranks")
	require.FileExists(t, filepath.Join(out, "trace.cairn"))
}
