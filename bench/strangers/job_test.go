package strangers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStartOf(t *testing.T) {
	first, second := sleeper(t), sleeper(t)
	assert.NotZero(t, startOf(first.PIDs[0]))
	assert.LessOrEqual(t, startOf(os.Getpid()), startOf(first.PIDs[0]))
	assert.LessOrEqual(t, startOf(first.PIDs[0]), startOf(second.PIDs[0]))
}

func TestRankIn(t *testing.T) {
	for environment, is := range map[string]int{
		"A=1\x00OMPI_COMM_WORLD_RANK=3\x00B=2\x00": 3, "PMI_RANK=0\x00": 0, "MY_PMI_RANK=2\x00": -1,
		"PMI_RANK=x\x00": -1, "": -1,
	} {
		rank, ok := rankIn([]byte(environment))
		assert.Equal(t, is >= 0, ok, "%q", environment)
		if ok {
			assert.Equal(t, is, rank)
		}
	}
}

func TestParseDelay(t *testing.T) {
	d, ok := parseDelay("138990 1500000000 2\n")
	assert.True(t, ok)
	assert.Equal(t, 1.5, d)
	for _, bad := range []string{"", "1 2", "1 x 3"} {
		_, ok := parseDelay(bad)
		assert.False(t, ok, bad)
	}
}

// sleeper starts a process for a fault to work on.
func sleeper(t *testing.T) *Job {
	c := exec.Command("sleep", "60")
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return &Job{PIDs: []int{c.Process.Pid}}
}

func state(t *testing.T, pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	var id int
	var name, is string
	_, err = fmt.Sscan(string(text), &id, &name, &is)
	require.NoError(t, err)
	return is
}

// TestStopsEnd: a stopped rank is stopped and continued in turns, and continued at the end. At
// strength 0 it is never stopped.
func TestStopsEnd(t *testing.T) {
	j := sleeper(t)
	for _, strength := range []float64{0.5, 0} {
		end, err := beginStop(j, []int{0}, strength)
		require.NoError(t, err)
		seen := map[string]bool{}
		for until := time.Now().Add(2 * period); time.Now().Before(until); time.Sleep(time.Millisecond) {
			seen[state(t, j.PIDs[0])] = true
		}
		end()
		assert.Equal(t, strength > 0, seen["T"])
		assert.Eventually(t, func() bool { return state(t, j.PIDs[0]) == "S" }, time.Second, time.Millisecond)
	}
}

func TestKill(t *testing.T) {
	j := sleeper(t)
	_, err := beginKill(j, []int{0}, 0)
	require.NoError(t, err)
	assert.True(t, running(j.PIDs[0]))
	_, err = beginKill(j, []int{0}, 1)
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return !running(j.PIDs[0]) }, time.Second, time.Millisecond, "a zombie does not run")
}

func TestHogsEnd(t *testing.T) {
	end, err := beginHogs([]int{-1}, 1.6)
	require.NoError(t, err)
	end()
	end, err = beginHogs([]int{0}, 0)
	require.NoError(t, err)
	end()
}

func TestRanksThatNeverCome(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	_, err := findRanks(t.Context(), "none", 2, ended)
	assert.ErrorContains(t, err, "before all of 2 ranks were there")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = findRanks(ctx, "none", 2, make(chan struct{}))
	assert.ErrorIs(t, err, context.Canceled)
}

// TestLimitsOfBothCgroups: groups are made where the kernel has the controller, with the limit of
// that version.
func TestLimitsOfBothCgroups(t *testing.T) {
	root := t.TempDir()
	cpu, memory := cpuGroups, memoryGroups
	cpu.root, memory.root = root, root
	assert.ErrorContains(t, cpu.possible(), "no cgroup controller cpu")
	for _, name := range []string{"cpu", "memory"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name, "cgroup.procs"), nil, 0o600))
	}
	require.NoError(t, cpu.possible())
	assert.ErrorContains(t, memory.possible(), "memory.high needs cgroup v2")
	folder, name, err := cpu.file()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "cpu")+" cpu.cfs_quota_us", folder+" "+name)
	require.NoError(t, os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("cpu memory\n"), 0o600))
	group, limit, err := memory.make()
	require.NoError(t, err)
	assert.Equal(t, root, filepath.Dir(group))
	assert.Equal(t, filepath.Join(group, "memory.high"), limit)
}
