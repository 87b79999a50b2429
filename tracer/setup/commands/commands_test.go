package commands_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/test/built"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// image returns a directory like Cairn's image: bin with the real commands, lib with placeholders
// for the tracer's libraries.
var image string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "cairn-commands-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return 1, err
	}
	image = dir
	if err := copyCommands(filepath.Join(image, "bin")); err != nil {
		return 1, err
	}
	source := filepath.Join(dir, "library.c")
	if err := os.WriteFile(source, []byte("#include <string.h>\nvoid *f(void *p) { return memcpy(p, \"x\", 2); }\n"), 0o644); err != nil {
		return 1, err
	}
	if err := os.Mkdir(filepath.Join(image, "lib"), 0o755); err != nil {
		return 1, err
	}
	for _, name := range []string{setup.Shim(setup.OpenMPI), setup.Shim(setup.MPICH)} {
		if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", filepath.Join(image, "lib", name), source).CombinedOutput(); err != nil {
			return 1, fmt.Errorf("gcc: %w: %s", err, out)
		}
	}
	return m.Run(), nil
}

// staticCommands are the commands of the image.
var staticCommands = []string{"cairn", "cairn-probe"}

// copyCommands copies the image's commands, which find its libraries beside them.
func copyCommands(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range staticCommands {
		path, err := built.Find(name)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// build builds the static commands of the image for an architecture.
func build(dir, architecture string) error {
	for _, name := range staticCommands {
		flags := "-s -w"
		if name == "cairn" { // the only one with C
			flags += " -linkmode external -extldflags -static"
		}
		c := exec.Command("go", "build", "-trimpath", "-tags=netgo,osusergo", "-ldflags", flags, "-o", filepath.Join(dir, name), "github.com/cairn-mpi/cairn/cmd/"+name)
		c.Env = append(os.Environ(), "CGO_ENABLED=1", "GOARCH="+architecture)
		if architecture == "arm64" {
			c.Env = append(c.Env, "CC=aarch64-linux-gnu-gcc")
		}
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", c, err, out)
		}
	}
	return nil
}

// result is the result of a command.
type result struct {
	code    int
	verdict messages.Probe
	output  string
	took    time.Duration
	memory  int64 // the most, in KiB
}

// command runs a command with a termination log and measures its memory. It starts it from a small
// parent process, since a child inherits the high-water mark of its parent. Only the command itself
// has env, which may name inaccessible directories.
func command(t *testing.T, env []string, argv ...string) result {
	t.Helper()
	log := filepath.Join(t.TempDir(), "termination-log")
	require.NoError(t, os.WriteFile(log, nil, 0o666))
	const measured = `import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write("%d %d" % (code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))`
	usage := filepath.Join(t.TempDir(), "usage")
	name := slices.IndexFunc(argv, func(arg string) bool { return arg == "install" || arg == "probe" })
	c := exec.Command("python3", append([]string{"-c", measured, usage}, slices.Concat([]string{"env"}, env, argv[:name+1], []string{"--termination-log", log}, argv[name+1:])...)...)
	started := time.Now()
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := result{output: string(out), took: time.Since(started)}
	raw, err := os.ReadFile(usage)
	require.NoError(t, err)
	_, err = fmt.Sscan(string(raw), &r.code, &r.memory)
	require.NoError(t, err)
	if raw, err = os.ReadFile(log); err == nil && len(raw) > 0 {
		require.NoError(t, json.Unmarshal(raw, &r.verdict), "%s", raw)
	}
	return r
}

// install creates a tracer's root as it is in a pod.
func install(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	r := command(t, nil, filepath.Join(image, "bin/cairn"), "install", "--to", root)
	require.Zero(t, r.code, r.output)
	require.True(t, r.verdict.Traceable, r.output)
	return root
}

func probe(root string, args ...string) []string {
	// this machine may be busy; another test is about the time limit
	return append([]string{filepath.Join(root, "cairn"), "probe", "--root", root, "--timeout", "10m"}, args...)
}

func preload(t *testing.T, root string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, setup.PreloadFile))
	require.NoError(t, err)
	return string(raw)
}

// The installed binary is the small one, and it can probe.
func TestInstalledProbe(t *testing.T) {
	root := install(t)
	whole, err := os.Stat(filepath.Join(image, "bin/cairn"))
	require.NoError(t, err)
	small, err := os.Stat(filepath.Join(root, "cairn"))
	require.NoError(t, err)
	require.Less(t, small.Size(), whole.Size()/3)
	r := command(t, nil, probe(root, "--spool-limit-bytes", "77", "--timing", "lossless", "--include", "p2p")...)
	require.Zero(t, r.code, r.output)
	require.True(t, r.verdict.Traceable, r.output)
	require.Contains(t, preload(t, root), "libcairn-")
}

// sparse creates a library that only looks large: hundreds of megabytes of loaded zeros, and a
// version after them.
func sparse(t *testing.T, path string, size int64, text string) {
	t.Helper()
	c := exec.Command("gcc", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.12", "-x", "c", "-o", path, "-")
	c.Stdin = strings.NewReader("int PMPI_Init(void) { return 0; }\n")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	const grow = `import os, struct, sys
path, size, text = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode()
with open(path, "r+b") as f:
    head = f.read(64); end = f.seek(0, 2)
    phoff, phnum = struct.unpack_from("<Q", head, 32)[0], struct.unpack_from("<H", head, 56)[0]
    for i in range(phnum):
        f.seek(phoff + 56 * i)
        if struct.unpack("<I", f.read(4))[0] == 0x6474e551: # PT_GNU_STACK becomes PT_LOAD
            f.seek(phoff + 56 * i); f.write(struct.pack("<IIQQQQQQ", 1, 4, end, 1 << 40, 0, size, size, 4096))
    f.seek(end + size - len(text)); f.write(text)`
	out, err = exec.Command("python3", "-c", grow, path, strconv.FormatInt(size, 10), text).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// The real command takes at most 32 MiB, whatever the size of the libraries.
func TestMemoryOfProbe(t *testing.T) {
	root, dir := install(t), t.TempDir()
	large := int64(1 << 30)
	if testing.Short() {
		large /= 4
	}
	sparse(t, filepath.Join(dir, "libmpi.so.1"), large/4, "Intel(R) MPI Library 2021.10")
	sparse(t, filepath.Join(dir, "libmpi.so.2"), large/4, "MPICH Version:")
	sparse(t, filepath.Join(dir, "libmpi.so.3"), large, "Intel(R) MPI Library 2021.11")
	sparse(t, filepath.Join(dir, "libmpi.so.4"), large, "of nobody")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "libmpi.so.5"), nil, 0o644))
	require.NoError(t, os.Truncate(filepath.Join(dir, "libmpi.so.5"), large))
	r := command(t, []string{"LD_LIBRARY_PATH=" + dir}, probe(root)...)
	require.Zero(t, r.code, r.output)
	for _, mpi := range []string{"Intel MPI 2021.10", "Intel MPI 2021.11", "MPICH"} {
		require.Contains(t, r.verdict.MPI, mpi)
	}
	require.LessOrEqual(t, r.memory, int64(32<<10), "KiB")
	t.Logf("%d KiB, %v", r.memory, r.took)
}

// Whatever the arguments are, both commands succeed, report what is wrong, and preload nothing.
func TestBadArguments(t *testing.T) {
	root := install(t)
	for _, bad := range [][]string{{"--no-such-flag"}, {"--spool-limit-bytes", "many"}, {"surplus"}, {"--timeout", "soon"}, {"--include", "no-such-group"}, {"-x"}} {
		r := command(t, nil, probe(root, bad...)...)
		require.Zero(t, r.code, "%v: %s", bad, r.output)
		require.Equal(t, messages.ProbeInternalError, r.verdict.Reason, "%v", bad)
		require.Contains(t, r.verdict.Message, strings.TrimLeft(bad[0], "-")[:1], "%v", bad)
		require.Empty(t, preload(t, root), "%v", bad)
	}
	for _, bad := range [][]string{{"--no-such-flag"}, {"surplus"}} {
		root := t.TempDir()
		r := command(t, nil, append([]string{filepath.Join(image, "bin/cairn"), "install", "--to", root}, bad...)...)
		require.Zero(t, r.code, "%v: %s", bad, r.output)
		require.Equal(t, messages.ProbeInternalError, r.verdict.Reason, "%v", bad)
		require.Empty(t, preload(t, root), "%v", bad)
		// and the probe passes it on
		p := command(t, nil, probe(root)...)
		require.Zero(t, p.code)
		require.Equal(t, r.verdict, p.verdict)
		require.Empty(t, preload(t, root), "%v", bad)
	}
}

// The standard output may be closed, and there may be no termination log.
func TestNowhereToPrint(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	for _, c := range []string{
		filepath.Join(image, "bin/cairn") + " install --to " + root + " --termination-log /proc/none >&-",
		filepath.Join(image, "bin/cairn") + " install --to " + root + " --termination-log /dev/full >/dev/full 2>&1",
		filepath.Join(root, "cairn") + " probe --root " + root + " --termination-log /dev/full >/dev/full 2>&1",
		filepath.Join(image, "bin/cairn") + " probe --root " + root + " >/dev/full",
		"{ " + filepath.Join(root, "cairn") + " probe --root " + root + "; echo $? >" + root + "/code; } | true; sleep 1; exit $(cat " + root + "/code)",
	} {
		out, err := exec.Command("sh", "-c", c).CombinedOutput()
		require.NoError(t, err, "%s: %s", c, out)
	}
	require.Contains(t, preload(t, root), "libcairn-")
}

// inVolume runs a script in which $volume is a file system of a few megabytes, and
// returns its output.
func inVolume(t *testing.T, options, script string) string {
	t.Helper()
	volume := t.TempDir()
	script = "set -e; bin=" + filepath.Join(image, "bin") + "; volume=" + volume +
		"; log=" + filepath.Join(t.TempDir(), "log") + "; : >$log; mount -t tmpfs -o " + options + " volume $volume; " + script
	out, err := exec.Command("unshare", "-m", "sh", "-c", script).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// A full volume lets the pod run without a trace: the mount targets exist, the preload file is
// empty, and the operator gets the reason.
func TestFullVolume(t *testing.T) {
	const both = "$bin/cairn install --to $volume --termination-log $log; cat $log; echo; " +
		"$volume/cairn probe --root $volume --termination-log $log; cat $log; echo; ls -A $volume $volume/lib; wc -c <$volume/ld.so.preload; stat -c %a $volume/spool"
	info, err := os.Stat(filepath.Join(image, "bin/cairn-probe"))
	require.NoError(t, err)
	for _, test := range []struct {
		size string
		want []string
	}{
		// no room for the libraries: the probe says what the installation noted
		{fmt.Sprintf("%dk", (info.Size()+4095)/4096*4+28), []string{`"reason":"InternalError"`, "cannot install the tracer", "no space left on device", "install.json"}},
		// no room for the probe: the pod's command is true(1) of its image
		{"2m", []string{`"reason":"InternalError"`, "cannot install the tracer: write ", "/cairn: no space left on device"}},
		{"4k", []string{`"reason":"InternalError"`, "cannot install the tracer", "no space left on device"}},
	} {
		t.Run(test.size, func(t *testing.T) {
			out := inVolume(t, "size="+test.size, both)
			for _, want := range append(test.want, "\ncairn\n", "\nld.so.preload\n", "\nspool\n", "\n0\n1777\n") {
				require.Contains(t, "\n"+out, want)
			}
			require.NotContains(t, out, ".so\n", "half a tracer")
		})
	}
	// files of an earlier installation are removed to make room; a successful one
	// leaves no verdict file
	out := inVolume(t, "size=24m", `mkdir $volume/lib; dd if=/dev/zero of=$volume/.cairn-123 bs=1M count=20 2>/dev/null; echo '{"reason":"InternalError"}' >$volume/install.json
echo /cairn/lib/libcairn-openmpi.so >$volume/ld.so.preload
$bin/cairn install --to $volume --termination-log $log; ls -A $volume; wc -c <$volume/ld.so.preload; $volume/cairn probe --root $volume`)
	require.Contains(t, out, `"traceable":true,"abi":["`)
	require.NotContains(t, out, "install.json")
	require.NotContains(t, out, ".cairn-")
	require.Contains(t, out, "\n0\n")
}

// A read-only volume is no reason to fail.
func TestReadOnlyVolume(t *testing.T) {
	out := inVolume(t, "size=24m", "mount -o remount,ro $volume; $bin/cairn install --to $volume --termination-log $log; cat $log; "+
		"$bin/cairn probe --root $volume --termination-log $log; cat $log")
	require.Equal(t, 4, strings.Count(out, `"reason":"InternalError"`), out)
	require.Contains(t, out, "read-only file system")
	// installed, then read-only: the probe cannot write the preload file
	out = inVolume(t, "size=24m", "$bin/cairn install --to $volume >/dev/null; mount -o remount,ro $volume; $volume/cairn probe --root $volume; wc -c <$volume/ld.so.preload")
	require.Contains(t, out, `"reason":"InternalError"`)
	require.True(t, strings.HasSuffix(out, "\n0\n"), out)
	// a spool that is no directory
	out = inVolume(t, "size=24m", "touch $volume/spool; $bin/cairn install --to $volume; $volume/cairn probe --root $volume; wc -c <$volume/ld.so.preload")
	require.Contains(t, out, "not a directory")
	require.True(t, strings.HasSuffix(out, "\n0\n"), out)
}

// hanging mounts a file system whose server never answers: every access blocks until
// it is unmounted.
func hanging(t *testing.T) string {
	t.Helper()
	server, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	require.NoError(t, err, "/dev/fuse is needed")
	dir := t.TempDir()
	require.NoError(t, unix.Mount("hanging", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", server)))
	t.Cleanup(func() {
		require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH))
		require.NoError(t, unix.Close(server))
	})
	return dir
}

// A file system that does not respond, in a directory that somebody named, costs the time limit and
// the trace. The process ends although one of its threads is blocked.
func TestHangingFileSystem(t *testing.T) {
	root := install(t)
	dir := hanging(t)
	r := command(t, []string{"LD_LIBRARY_PATH=" + dir + "/lib"}, probe(root, "--timeout", "5s")...)
	require.Zero(t, r.code, r.output)
	require.Equal(t, messages.ProbeTimedOut, r.verdict.Reason)
	require.Contains(t, r.verdict.Message, dir)
	require.Less(t, r.took, 15*time.Second)
	require.Empty(t, preload(t, root))
}

// A file system that nobody named is not accessed.
func TestHangingFileSystemThatNobodyNamed(t *testing.T) {
	root := install(t)
	dir := hanging(t)
	out, err := exec.Command("unshare", "-m", "sh", "-c", "mount --bind "+dir+" /opt && exec "+strings.Join(probe(root), " ")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `"traceable":true`)
}

// A signal ends both commands, successfully.
func TestSignalDuringProbe(t *testing.T) {
	root := install(t)
	dir := hanging(t)
	c := exec.Command(probe(root)[0], probe(root, "--timeout", "1m")[1:]...)
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir)
	require.NoError(t, c.Start())
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, c.Process.Signal(unix.SIGTERM))
	started := time.Now()
	require.NoError(t, c.Wait())
	require.Less(t, time.Since(started), 5*time.Second)
}
