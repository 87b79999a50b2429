package strangers

import (
	"context"
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

// TestStopsEnd: a stopped rank is continued at the end. At strength 0 it is never stopped.
func TestStopsEnd(t *testing.T) {
	j := sleeper(t)
	for _, strength := range []float64{0.9, 0} {
		end, err := beginStop(j, []int{0}, strength)
		require.NoError(t, err)
		seen := false
		for until := time.Now().Add(2 * period); time.Now().Before(until); time.Sleep(time.Millisecond) {
			seen = seen || stateOf(j.PIDs[0]) == 'T'
		}
		assert.Equal(t, strength > 0, end() > 0)
		assert.Equal(t, strength > 0, seen)
		assert.Eventually(t, func() bool { return stateOf(j.PIDs[0]) == 'S' }, time.Second, time.Millisecond)
	}
}

func TestKill(t *testing.T) {
	j := sleeper(t)
	_, err := beginKill(j, []int{0}, 0)
	require.NoError(t, err)
	assert.True(t, running(j.PIDs[0]))
	end, err := beginKill(j, []int{0}, 1)
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return end() == 1 }, time.Second, time.Millisecond, "a zombie does not run")
	_, err = beginKill(j, []int{0}, 1)
	assert.ErrorContains(t, err, "not there")
}

func TestHogsEnd(t *testing.T) {
	end, err := beginHogs([]int{-1}, 1.6)
	require.NoError(t, err)
	time.Sleep(300 * time.Millisecond)
	assert.Greater(t, end(), 0.01)
	end, err = beginHogs([]int{0}, 0)
	require.NoError(t, err)
	assert.Zero(t, end())
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

// TestLimitsOfBothCgroups: groups are made where the kernel has the controller, with the files of
// that version.
func TestLimitsOfBothCgroups(t *testing.T) {
	root := t.TempDir()
	cpu := cpuGroups
	cpu.root = root
	assert.ErrorContains(t, cpu.possible(), "no cgroup controller cpu")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "cpu"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "cpu", "cgroup.procs"), nil, 0o600))
	require.NoError(t, cpu.possible())
	for _, example := range []struct{ folder, limit, is, before, after string }{
		{filepath.Join(root, "cpu"), "cpu.cfs_quota_us", "40000", "throttled_time 1000000000\n", "nr_throttled 9\nthrottled_time 3500000000\n"},
		{root, "cpu.max", "40000", "throttled_usec 7\n", "nr_throttled 9\nthrottled_usec 2500007\n"},
	} {
		if example.folder == root {
			require.NoError(t, os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("cpu memory\n"), 0o600))
		}
		made, err := cpu.make(2)
		require.NoError(t, err)
		assert.Equal(t, example.folder, filepath.Dir(made.path(1)))
		write := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(made.path(1), name), []byte(text), 0o600))
		}
		write("cpu.stat", example.before)
		end, err := beginQuota(&Job{groups: made}, []int{1}, 0.6)
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(made.path(1), example.limit))
		require.NoError(t, err)
		assert.Equal(t, example.is, string(text))
		write("cpu.stat", example.after)
		assert.InDelta(t, 2.5, end(), 1e-9)
	}
}

// TestMemoryLimit: half of what is used is the limit of version 2, and meeting it is counted.
func TestMemoryLimit(t *testing.T) {
	root := t.TempDir()
	memory := memoryGroups
	memory.root = root
	require.NoError(t, os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("memory\n"), 0o600))
	made, err := memory.make(1)
	require.NoError(t, err)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(made.path(0), name), []byte(text), 0o600))
	}
	write("memory.current", "1000\n")
	write("memory.events", "low 0\nhigh 3\nmax 0\n")
	end, err := beginMemory(&Job{groups: made}, []int{0}, 0.5)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(made.path(0), "memory.high"))
	require.NoError(t, err)
	assert.Equal(t, "500", string(text))
	write("memory.events", "low 0\nhigh 45\nmax 0\n")
	assert.Equal(t, 42.0, end())
}
