package recorder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

func TestContextIsThinnedOut(t *testing.T) {
	w := Watcher{interval: contextInterval}
	for i := range int64(500) {
		w.add(trace.ContextSample{MonotonicNS: i})
	}
	require.LessOrEqual(t, len(w.samples), mostContext)
	require.Zero(t, w.samples[0].MonotonicNS)
	require.Equal(t, int64(499), w.samples[len(w.samples)-1].MonotonicNS)
	require.Greater(t, w.interval, contextInterval)
	require.Equal(t, w.samples, decodeContext(encodeContext(w.samples)))
	b := encodeContext(w.samples)
	for i := range b {
		b[i] ^= 1
		require.Nil(t, decodeContext(b))
		require.Nil(t, decodeContext(b[:i]))
		b[i] ^= 1
	}
}

// What the sampler reads of this process is about this process.
func TestContextOfThisProcess(t *testing.T) {
	before := readContext("")
	for x := 0; readContext("").CPUNS < before.CPUNS+20e6; x++ {
	}
	after := readContext("")
	require.Greater(t, after.MonotonicNS, before.MonotonicNS)
	require.GreaterOrEqual(t, after.VoluntarySwitches, before.VoluntarySwitches)
	require.GreaterOrEqual(t, after.CPU, int64(0))
	require.Equal(t, int64(-1), after.ThrottledNS)
}

func TestCPUStatOfBothVersions(t *testing.T) {
	for name, test := range map[string]struct {
		cgroup, file, content string
		periods, ns           int64
	}{
		"v2":                      {"0::/kubepods/pod1/c1\n", "kubepods/pod1/c1/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 1500\n", 3, 1500_000},
		"v2, limit of the pod":    {"0::/kubepods/pod1/c1\n", "kubepods/pod1/cpu.stat", "nr_throttled 3\nthrottled_usec 1500\n", 3, 1500_000},
		"v2, in a container":      {"0::/\n", "cpu.stat", "nr_throttled 0\nthrottled_usec 0\n", 0, 0},
		"v1":                      {"4:memory:/x\n3:cpu,cpuacct:/pod\n0::/\n", "cpu,cpuacct/pod/cpu.stat", "nr_periods 1\nnr_throttled 7\nthrottled_time 42\n", 7, 42},
		"v1, another mount point": {"3:cpuacct,cpu:/docker/abc\n", "cpu/cpu.stat", "nr_throttled 7\nthrottled_time 42\n", 7, 42},
	} {
		t.Run(name, func(t *testing.T) {
			mount := t.TempDir()
			groups := filepath.Join(mount, "cgroup")
			require.NoError(t, os.WriteFile(groups, []byte(test.cgroup), 0o600))
			path := filepath.Join(mount, test.file)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
			require.Equal(t, path, findCPUStat(groups, mount))
			s := readContext(path)
			require.Equal(t, test.periods, s.ThrottledPeriods)
			require.Equal(t, test.ns, s.ThrottledNS)
		})
	}
	require.Empty(t, findCPUStat(filepath.Join(t.TempDir(), "none"), "/"))
	require.Equal(t, int64(3), lastCPU([]byte("1 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 3 0")))
	require.Equal(t, int64(-1), lastCPU([]byte("1 (a")))
}
