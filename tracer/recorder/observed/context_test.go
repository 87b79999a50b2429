package observed

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// folder has the drivers that all tests use.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "observed"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// A driver runs a program that calls functions of the shim.
type driver func(arguments ...string) *exec.Cmd

// build compiles a driver. It opens each file that the compiler read, for go test to know that its
// result depends on them.
func build(program, source string, flags ...string) (driver, error) {
	arguments := append([]string{"-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror"}, flags...)
	read, err := exec.Command("gcc", append(arguments, "-MM", "-MT", "", source)...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	for _, name := range strings.Fields(strings.ReplaceAll(strings.TrimPrefix(string(read), ":"), "\\\n", " ")) {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		_ = file.Close()
	}
	if out, err := exec.Command("gcc", append(arguments, "-o", program, source)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", source, err, out)
	}
	return func(arguments ...string) *exec.Cmd { return exec.Command(program, arguments...) }, nil
}

// contextDriver has the shim's context.c.
func contextDriver(t *testing.T) driver {
	t.Helper()
	d, err := buildContext()
	require.NoError(t, err)
	return d
}

var buildContext = sync.OnceValues(func() (driver, error) {
	return build(filepath.Join(folder, "context"), "../../shim/testdata/context.c")
})

func readContext(t *testing.T, path string) []trace.ContextSample {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return decodeContext(b)
}

func TestContextIsThinnedOut(t *testing.T) {
	driver, path := contextDriver(t), filepath.Join(t.TempDir(), "context")
	out, err := driver("thin", path, "500").Output()
	require.NoError(t, err)
	// the interval has doubled after 32 samples, then after every 16
	require.Equal(t, fmt.Sprintln(1<<30), string(out))
	samples := readContext(t, path)
	require.LessOrEqual(t, len(samples), rawlayout.ContextSamples)
	require.Equal(t, trace.ContextSample{}, samples[0])
	require.Equal(t, int64(499), samples[len(samples)-1].MonotonicNS)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, damaged := range [][]byte{nil, b[:len(b)-1], append([]byte("x"), b[1:]...), append(append([]byte(rawlayout.ContextMagic), 33), b[9:]...)} {
		require.Nil(t, decodeContext(damaged))
	}
}

// Whenever the process is killed, the file has all samples so far.
func TestContextIsWholeAtAnyMoment(t *testing.T) {
	driver, path := contextDriver(t), filepath.Join(t.TempDir(), "context")
	for range 30 {
		_ = os.Remove(path)
		command := driver("thin", path, "0")
		require.NoError(t, command.Start())
		for b, _ := os.ReadFile(path); len(decodeContext(b)) == 0; b, _ = os.ReadFile(path) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
		require.NoError(t, command.Process.Kill())
		_ = command.Wait()
		samples := readContext(t, path)
		require.GreaterOrEqual(t, len(samples), rawlayout.ContextSamples/2)
		require.Equal(t, trace.ContextSample{}, samples[0])
		for i, s := range samples {
			require.Equal(t, s.MonotonicNS, s.CPU)
			require.True(t, i == 0 || s.MonotonicNS > samples[i-1].MonotonicNS, "%v", samples)
		}
	}
}

// The samples of a process are plausible.
func TestContextOfThisProcess(t *testing.T) {
	driver, path := contextDriver(t), filepath.Join(t.TempDir(), "context")
	require.NoError(t, driver("now", path).Run())
	samples := readContext(t, path)
	require.Len(t, samples, 2)
	before, after := samples[0], samples[1]
	require.GreaterOrEqual(t, after.CPUNS, before.CPUNS+20e6)
	require.Greater(t, after.MonotonicNS, before.MonotonicNS)
	require.GreaterOrEqual(t, after.VoluntarySwitches, before.VoluntarySwitches)
	require.GreaterOrEqual(t, after.CPU, int64(0))
	require.Contains(t, []int64{trace.Unknown, 0}, before.StealNS, "it counts from the process's beginning")
}

// Steal is the eighth number of the first line, in ticks of 10 ms. A file without it means
// unknown, never 0.
func TestStealOfAMachine(t *testing.T) {
	const line = "cpu  100 5 50 4000 3 0 9 %s 7 0\ncpu0 100 5 50 4000 3 0 9 1 7 0\nintr 1 2\n"
	driver := contextDriver(t)
	of := func(value string) string { return fmt.Sprintf(line, value) }
	for name, test := range map[string]struct {
		contents []string // as they are read one after the other
		want     string
	}{
		"some":              {[]string{of("700"), of("712"), of("800")}, "0 120000000 1000000000"},
		"none":              {[]string{of("700"), of("700")}, "0 0"},
		"not due":           {[]string{of("700"), "=", of("701"), "=", "="}, "0 -1 10000000 10000000 10000000"},
		"never falls":       {[]string{of("700"), of("701"), of("3"), of("702")}, "0 10000000 10000000 20000000"},
		"missing then":      {[]string{of("700"), of("701"), "", of("702")}, "0 10000000 10000000 20000000"},
		"only once":         {[]string{of("700"), "x", "x"}, "0 -1 -1"},
		"no such file":      {[]string{"=", "="}, "-1 -1"},
		"old kernel":        {[]string{"cpu  100 5 50 4000 3 0 9\n", "cpu  100 5 50 4000 3 0 9\n"}, "-1 -1"},
		"the last field":    {[]string{"cpu  100 5 50 4000 3 0 9 1\n", "cpu  100 5 50 4000 3 0 9 2\n"}, "0 10000000"},
		"counts nothing":    {[]string{"cpu  0 0 0 0 0 0 0 0 0 0\n", "cpu  0 0 0 0 0 0 0 0 0 0\n"}, "-1 -1"},
		"garbage":           {[]string{"cpu  a b c\n", of("1")}, "-1 -1"},
		"another line":      {[]string{"cpu0 1 2 3 4 5 6 7 8\n", of("1")}, "-1 -1"},
		"letters behind it": {[]string{"cpu  1 2 3 4 5 6 7 8x\n", of("1")}, "-1 -1"},
		"negative":          {[]string{of("-4"), of("1")}, "-1 -1"},
		"too large":         {[]string{of("99999999999999999999"), of("1")}, "-1 -1"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := driver(append([]string{"steal", filepath.Join(t.TempDir(), "stat")}, test.contents...)...).Output()
			require.NoError(t, err)
			require.Equal(t, test.want, strings.TrimSpace(string(out)))
		})
	}
}

// A reading is not repeated before a hundred thousand times its duration has passed.
func TestStealIsNotReadTooOften(t *testing.T) {
	out, err := contextDriver(t)("cost", "1000").Output()
	require.NoError(t, err)
	var took, wait float64
	_, err = fmt.Sscan(string(out), &took, &wait)
	require.NoError(t, err)
	require.Positive(t, took)
	require.InDelta(t, 1e5*took, wait, 5e4*took)
}

func TestCPUStatOfBothVersions(t *testing.T) {
	driver := contextDriver(t)
	print := func(arguments ...string) string {
		out, err := driver(arguments...).Output()
		require.NoError(t, err)
		return strings.TrimSuffix(string(out), "\n")
	}
	for name, test := range map[string]struct{ cgroup, file, content, want string }{
		"v2":                      {"0::/kubepods/pod1/c1\n", "kubepods/pod1/c1/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 1500\n", "3 1500000"},
		"v2, limit of the pod":    {"0::/kubepods/pod1/c1\n", "kubepods/pod1/cpu.stat", "nr_throttled 3\nthrottled_usec 1500\n", "3 1500000"},
		"v2, in a container":      {"0::/\n", "cpu.stat", "nr_throttled 0\nthrottled_usec 0\n", "0 0"},
		"v2, above the container": {"0::/../x\n", "cpu.stat", "nr_throttled 1\nthrottled_usec 2\n", "1 2000"},
		"v1":                      {"4:memory:/x\n3:cpu,cpuacct:/pod\n0::/\n", "cpu,cpuacct/pod/cpu.stat", "nr_periods 1\nnr_throttled 7\nthrottled_time 42\n", "7 42"},
		"v1, another mount point": {"3:cpuacct,cpu:/docker/abc\n", "cpu/cpu.stat", "nr_throttled 7\nthrottled_time 42\n", "7 42"},
	} {
		t.Run(name, func(t *testing.T) {
			mount := t.TempDir()
			groups := filepath.Join(mount, "cgroup")
			require.NoError(t, os.WriteFile(groups, []byte(test.cgroup), 0o600))
			path := filepath.Join(mount, test.file)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
			require.Equal(t, path+" "+test.want, strings.ReplaceAll(print("find", groups, mount), "//", "/"))
		})
	}
	require.Equal(t, " -1 -1", print("find", filepath.Join(t.TempDir(), "none"), "/"))
	require.Equal(t, "3", print("cpu", "1 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 3 0"))
	require.Equal(t, "-1", print("cpu", "1 (a"))
}
