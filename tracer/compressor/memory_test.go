package compressor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A machine is a folder with what the kernel has in /proc and /sys/fs/cgroup.
type machine struct {
	t    *testing.T
	root string
}

func (m machine) write(files map[string]string) {
	m.t.Helper()
	for name, text := range files {
		name = filepath.Join(m.root, name)
		require.NoError(m.t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(m.t, os.WriteFile(name, []byte(text), 0o644))
	}
}

// The texts are those of the kernel's: of version 1, its oom_control and a process of several
// controllers; of version 2, memory.events, in which other words begin alike.
const (
	groupsV1  = "9:name=systemd:/\n8:pids:/job\n4:memory:/job/rank\n1:cpu,cpuacct:/\n0::/\n"
	noLimitV1 = "9223372036854771712\n"
	killsV1   = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"
	groupsV2  = "0::/job/rank\n"
	killsV2   = "low 0\nhigh 3\nmax 17\noom 4\noom_kill 2\noom_group_kill 5\n"
)

// What is known of a process's memory: its cgroup of either version, wherever that is mounted, the
// lowest of all limits above it, and kills since it was first seen.
func TestMemoryOfBothVersions(t *testing.T) {
	const v1, v2, beside = "sys/fs/cgroup/memory/", "sys/fs/cgroup/", "sys/fs/cgroup/unified/"
	for name, c := range map[string]struct {
		files map[string]string
		kills string // the file that counts kills; "": the cgroup is not found
		text  string // its text at first
		limit uint64
	}{
		"version 1": {map[string]string{
			"proc/7/cgroup": groupsV1, v1 + "memory.limit_in_bytes": noLimitV1, v1 + "memory.oom_control": killsV1,
			v1 + "job/memory.limit_in_bytes": "2097152\n", v1 + "job/rank/memory.limit_in_bytes": "4194304\n",
		}, v1 + "job/rank/memory.oom_control", killsV1, 2 << 20},
		"version 1, without a limit": {map[string]string{
			"proc/7/cgroup": groupsV1, v1 + "job/rank/memory.limit_in_bytes": noLimitV1,
		}, v1 + "job/rank/memory.oom_control", killsV1, 0},
		"version 1, in a container": {map[string]string{
			"proc/7/cgroup": groupsV1, v1 + "memory.limit_in_bytes": "8388608\n",
		}, v1 + "memory.oom_control", killsV1, 8 << 20},
		"version 2": {map[string]string{
			"proc/7/cgroup": groupsV2, v2 + "job/memory.max": "max\n", v2 + "job/rank/memory.max": "4194304\n",
		}, v2 + "job/rank/memory.events", killsV2, 4 << 20},
		"version 2, without a limit": {map[string]string{
			"proc/7/cgroup": groupsV2, v2 + "job/memory.max": "max\n", v2 + "job/rank/memory.max": "max\n",
		}, v2 + "job/rank/memory.events", killsV2, 0},
		"version 2, beside others of version 1": {map[string]string{
			"proc/7/cgroup": "8:pids:/job\n0::/job/rank\n", beside + "job/memory.max": "4194304\n", beside + "job/rank/memory.max": "max\n",
		}, beside + "job/rank/memory.events", killsV2, 4 << 20},
		"above the root of its namespace": {map[string]string{
			"proc/7/cgroup": "0::/../../other\n", v2 + "memory.max": "4194304\n", "sys/other/memory.max": "1\n", "sys/other/memory.events": killsV2,
		}, v2 + "memory.events", killsV2, 4 << 20},
		"no cgroups": {map[string]string{"proc/7/cgroup": groupsV1}, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			at := machine{t, t.TempDir()}
			at.write(map[string]string{"proc/7/statm": "9999 100 5 0 0 0 0\n"})
			at.write(c.files)
			if c.kills != "" {
				at.write(map[string]string{c.kills: c.text})
			}
			m := memoryOf(at.root, 7)
			require.Equal(t, c.limit, m.limit())
			require.Equal(t, m.killed, m.kills(), "kills from before are not the process's")
			if c.kills == "" {
				require.Empty(t, m.group)
				return
			}
			require.EqualValues(t, 2, m.killed)
			at.write(map[string]string{c.kills: "oom 9\noom_kill 3\n"})
			require.EqualValues(t, 3, m.kills())
		})
	}
}

// The most memory counts, and nothing is known of a process that is gone or not visible.
func TestMostMemory(t *testing.T) {
	at := machine{t, t.TempDir()}
	page := uint64(os.Getpagesize())
	at.write(map[string]string{"proc/7/statm": "9999 100 5 0 0 0 0\n"})
	m := memoryOf(at.root, 7)
	require.Equal(t, 100*page, m.used)
	for _, text := range []string{"9999 300 5 0 0 0 0\n", "9999 20 5 0 0 0 0\n", "", "nonsense words\n"} {
		at.write(map[string]string{"proc/7/statm": text})
		m.see()
		require.Equal(t, 300*page, m.used, text)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(at.root, "proc")))
	m.see()
	require.Equal(t, 300*page, m.used)
	hidden := memoryOf(at.root, 0)
	hidden.see()
	require.Zero(t, hidden.used)
	require.Zero(t, hidden.kills())
	require.Zero(t, hidden.limit())
}
