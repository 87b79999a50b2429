package strangers

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/test/network"
)

// A victim is a process of testdata/victim.c.
type victim struct {
	pid  int
	last atomic.Pointer[[3]float64] // what it printed last
}

// build compiles the victim.
func build(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "victim")
	out, err := exec.Command("gcc", "-O1", "-Wall", "-Werror", "-o", path, "testdata/victim.c").CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// start starts a victim, which ends with the test.
func start(t *testing.T, environment []string, command ...string) *victim {
	c := exec.Command(command[0], command[1:]...)
	c.Env, c.Stderr = append(os.Environ(), environment...), os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	v := &victim{pid: c.Process.Pid}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var n [3]float64
			if _, err := fmt.Sscan(lines.Text(), &n[0], &n[1], &n[2]); err == nil {
				v.last.Store(&n)
			}
		}
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	require.Eventually(t, func() bool { return v.last.Load() != nil }, 10*time.Second, time.Millisecond)
	return v
}

// pair starts two victims as the ranks of a job, each on a core of its own if there are as many.
func pair(t *testing.T, work ...string) (*Job, []*victim) {
	program := build(t)
	j, all := &Job{Dir: t.TempDir()}, []*victim{}
	if work[0] == "write" {
		end, err := prepareSlowFiles(j, 2)
		require.NoError(t, err)
		t.Cleanup(end)
	}
	for rank := range 2 {
		command := append([]string{program}, work...)
		if work[0] == "write" {
			command[2] = filepath.Join(j.Dir, fmt.Sprint(rank))
		}
		v := start(t, nil, command...)
		j.PIDs, all = append(j.PIDs, v.pid), append(all, v)
		require.NoError(t, pin(v.pid, core(rank)))
	}
	return j, all
}

// inject lets a fault of rank 1 work for a second, and returns its effect, and the numbers that
// each victim's output grew by meanwhile.
func inject(t *testing.T, j *Job, all []*victim, class Class, name string, strength float64) (effect float64, grew [][3]float64) {
	f, err := FaultOf(class, name)
	require.NoError(t, err)
	end, err := f.Begin(j, f.Touched(1), strength)
	require.NoError(t, err)
	var before [][3]float64
	for _, v := range all {
		before = append(before, *v.last.Load())
	}
	ended := make(chan struct{})
	time.AfterFunc(time.Second, func() { close(ended) })
	j.watch(ended)
	for i, v := range all {
		now := *v.last.Load()
		for k := range now {
			now[k] -= before[i][k]
		}
		grew = append(grew, now)
	}
	return end(), grew
}

// works injects a fault at a strength and at 0, which has no effect.
func works(t *testing.T, j *Job, all []*victim, class Class, name string, strength float64) (effect float64, grew [][3]float64) {
	f, err := FaultOf(class, name)
	require.NoError(t, err)
	none, _ := inject(t, j, all, class, name, 0)
	assert.Less(t, none, f.Least, "without the fault")
	effect, grew = inject(t, j, all, class, name, strength)
	assert.GreaterOrEqual(t, effect, f.Least)
	return effect, grew
}

// TestStopped: the rank does the less, the other one what it did.
func TestStopped(t *testing.T) {
	j, all := pair(t, "sleep")
	effect, grew := works(t, j, all, Evidence, "stop", 0.7)
	assert.InDelta(t, 0.7, effect, 0.3)
	assert.Less(t, grew[1][0], 0.6*grew[0][0])
}

func TestHogged(t *testing.T) {
	j, all := pair(t, "compute")
	works(t, j, all, Evidence, "hog", 1)
	works(t, j, all, Evidence, "nice", 10)
	niceness, err := unix.Getpriority(unix.PRIO_PROCESS, j.PIDs[1])
	require.NoError(t, err)
	assert.Equal(t, 20-10, niceness, "the system call returns 20 minus the niceness")
	if runtime.NumCPU() > 1 {
		works(t, j, all, Evidence, "together", 1)
	}
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(j.PIDs[1], &set))
	assert.True(t, set.Count() == 1 && set.IsSet(0))
}

// inGroups starts two victims in groups, as ranks are started, if groups can be made here.
func inGroups(t *testing.T, g *groups, work ...string) (*Job, []*victim) {
	j, all, program := &Job{}, []*victim{}, build(t)
	end, err := g.prepare(j, 2)
	require.NoError(t, err)
	t.Cleanup(func() {
		end()
		assert.NoDirExists(t, j.groups.path(1))
	})
	for rank := range 2 {
		line := strings.Join(slices.Concat([]string{"exec"}, j.groups.wrapper(), []string{program}, work), " ")
		v := start(t, []string{fmt.Sprintf("PMI_RANK=%d", rank)}, "sh", "-c", line)
		j.PIDs, all = append(j.PIDs, v.pid), append(all, v)
	}
	return j, all
}

// TestThrottled: only the rank is. How long depends on other load.
func TestThrottled(t *testing.T) {
	if err := cpuGroups.possible(); err != nil {
		assert.ErrorContains(t, err, "cgroup")
		return
	}
	j, all := inGroups(t, &cpuGroups, "compute")
	works(t, j, all, Evidence, "quota", 0.7)
	assert.Zero(t, j.groups.counted([]int{0})[0])
}

// TestReclaimed: what is beyond the limit is reclaimed, and the rank goes on.
func TestReclaimed(t *testing.T) {
	if err := memoryGroups.possible(); err != nil {
		assert.Regexp(t, "cgroup", err.Error())
		return
	}
	j, all := inGroups(t, &memoryGroups, "touch", "64")
	_, grew := works(t, j, all, Evidence, "memory", 0.5)
	assert.Less(t, grew[1][0], 0.5*grew[0][0])
	assert.True(t, running(j.PIDs[1]))
}

// TestSlowFiles: accesses of the rank take longer, those of the other one do not.
func TestSlowFiles(t *testing.T) {
	if err := mayWatchFiles(); err != nil {
		assert.ErrorContains(t, err, "fanotify")
		return
	}
	j, all := pair(t, "write", "")
	_, grew := works(t, j, all, Evidence, "slow-files", 20)
	assert.Greater(t, grew[0][0], 3*grew[1][0])
}

// TestFullDisk: the next write of the program fails.
func TestFullDisk(t *testing.T) {
	if err := mayMount(); err != nil {
		assert.ErrorContains(t, err, "mount")
		return
	}
	j := &Job{Dir: t.TempDir()}
	require.NoError(t, mountSmall(j.Dir))
	t.Cleanup(func() { _ = unix.Unmount(j.Dir, unix.MNT_DETACH) })
	end, err := beginFull(j, nil, 1)
	require.NoError(t, err)
	assert.Equal(t, 1.0, end())
	assert.ErrorIs(t, os.WriteFile(filepath.Join(j.Dir, "more"), []byte("x"), 0o600), unix.ENOSPC)
}

// TestStretched: a rank sleeps longer everywhere, or in the region in which it sleeps most.
func TestStretched(t *testing.T) {
	out, err := exec.Command("make", "-s", "-C", "stretch").CombinedOutput()
	require.NoError(t, err, string(out))
	preload, err := filepath.Abs("../../out/stretch.so")
	require.NoError(t, err)
	s, program := &stage{}, build(t)
	t.Cleanup(s.close)
	slots := filepath.Join(t.TempDir(), "slots")
	require.NoError(t, s.shareSlots(slots))
	j, all := &s.job, []*victim{}
	j.replayer = program
	for rank := range 2 {
		environment := []string{"LD_PRELOAD=" + preload, "STRETCH_FILE=" + slots, fmt.Sprintf("OMPI_COMM_WORLD_RANK=%d", rank)}
		v := start(t, environment, program, "sleep")
		j.PIDs, all = append(j.PIDs, v.pid), append(all, v)
	}
	each := func(grew [3]float64) (waits, sends float64) { return grew[1] / grew[0] / 2, grew[2] / grew[0] }
	_, grew := works(t, j, all, Place, "stretch", 4)
	waits, sends := each(grew[1])
	assert.Greater(t, waits, 4.5, "milliseconds instead of one")
	assert.Greater(t, sends, 4.5)
	assert.Empty(t, j.region)
	_, grew = inject(t, j, all, Place, "region", 4)
	waits, sends = each(grew[1])
	others, _ := each(grew[0])
	assert.Equal(t, "MPI_Wait", j.region)
	assert.Greater(t, waits, 4.5)
	assert.Less(t, sends, 3.0)
	assert.Less(t, others, 3.0)
}

// TestLinks: the network counts what it did to a packet.
func TestLinks(t *testing.T) {
	if os.Geteuid() != 0 {
		_, err := network.New(2, network.Link{})
		assert.ErrorContains(t, err, "root")
		return
	}
	n, err := network.New(2, network.Link{})
	require.NoError(t, err)
	t.Cleanup(n.Close)
	j := &Job{network: n}
	for name, least := range map[string]float64{"latency": 0.05, "bandwidth": 0.001, "loss": 1} {
		f, err := FaultOf(Place, name)
		require.NoError(t, err)
		strength := map[string]float64{"latency": 50, "bandwidth": 1000, "loss": 100}[name]
		for _, s := range []float64{0, strength} {
			end, err := f.Begin(j, nil, s)
			require.NoError(t, err)
			c := n.Hosts[0].Command("bash", "-c", "echo x >/dev/udp/10.0.0.2/9")
			require.NoError(t, exec.Command(c[0], c[1:]...).Run())
			time.Sleep(100 * time.Millisecond)
			if effect := end(); s > 0 {
				assert.GreaterOrEqual(t, effect, least, name)
			} else {
				assert.Less(t, effect, least, name)
			}
		}
	}
}
