//go:build mpi

package mpi

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Programs that are seen for a while, whatever becomes of them.
const (
	withMPI = `
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	usleep(400000);
	if (getenv("ABORT") != NULL)
		abort();
	MPI_Init(&argc, &argv);
	MPI_Finalize();
	return 0;
}`
	loadsMPI = `
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *mpi = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	int (*initialize)(int *, char ***) = dlsym(mpi, "MPI_Init"), (*finalize)(void) = dlsym(mpi, "MPI_Finalize");
	initialize(&argc, &argv);
	usleep(400000);
	return finalize();
}`
	withoutMPI = `
#include <unistd.h>
int main(void)
{
	return usleep(400000);
}`
)

// compileC compiles a program.
func compileC(t *testing.T, dir, name, source, compiler string, flags ...string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path+".c", []byte(source), 0o644))
	out, err := exec.Command(compiler, append([]string{"-w", "-o", path, path + ".c"}, flags...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// copyWith copies a program and runs commands on the copy.
func copyWith(t *testing.T, program, name, script string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(program), name)
	out, err := exec.Command("sh", "-ec", `cp "$0" "$1"; `+script, program, path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// Of a command that left no trace only what was seen is reported, and what to try. The command does
// what it does without the tracer.
func TestWordsAboutUntracedCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const implementation = "openmpi"
	mpi := compileC(t, dir, "mpi", withMPI, "mpicc."+implementation)
	loads := compileC(t, dir, "loads", loadsMPI, "gcc", "-ldl")
	plain := compileC(t, dir, "plain", withoutMPI, "gcc")
	static := compileC(t, dir, "static", withoutMPI, "gcc", "-static")
	setuid := copyWith(t, plain, "setuid", `chown 65534 "$1"; chmod 4755 "$1"`)
	setgid := copyWith(t, mpi, "setgid", `chgrp 65534 "$1"; chmod 2755 "$1"`)
	capable := copyWith(t, plain, "capable", "")
	netRaw := make([]byte, 20) // CAP_NET_RAW, as security.capability of version 2
	binary.LittleEndian.PutUint32(netRaw, 0x02000001)
	binary.LittleEndian.PutUint32(netRaw[4:], 1<<unix.CAP_NET_RAW)
	require.NoError(t, unix.Setxattr(capable, "security.capability", netRaw, 0))
	root := filepath.Join(dir, "root")
	inRoot := `for d in usr lib lib64 bin proc dev etc sys; do mkdir -p ` + root + `/$d; mount --rbind /$d ` + root + `/$d; done; mkdir -p ` + root + `/tmp; cp "$0" ` + root + `/mpi; exec chroot ` + root + ` /mpi`
	readOnly := `mount --bind "$CAIRN_ROOT" "$CAIRN_ROOT" && mount -o remount,bind,ro "$CAIRN_ROOT" || true; exec "$0"`
	mpirun := shimtest.Launch(implementation, 2, "")
	mpirun = mpirun[:len(mpirun)-1]
	cases := map[string]struct {
		command []string
		says    string
		code    int
	}{
		"setuid":              {[]string{setuid}, setuid + " is setuid, and the system loads no LD_PRELOAD", 0},
		"setgid":              {[]string{setgid}, setgid + " is setgid, and the system loads no LD_PRELOAD", 0},
		"file capabilities":   {[]string{"setpriv", "--reuid=65534", "--clear-groups", capable}, capable + " has file capabilities, and the system", 0},
		"static":              {[]string{static}, static + " is statically linked", 0},
		"static under mpirun": {slices.Concat(mpirun, []string{static}), static + " is statically linked", 0},
		"no environment":      {[]string{"env", "-i", "OMPI_MCA_orte_tmpdir_base=" + dir, "PATH=" + os.Getenv("PATH"), mpi}, mpi + " was started without the tracer's LD_PRELOAD: ", 0},
		"LD_PRELOAD of a script": {slices.Concat(mpirun, []string{"sh", "-c", `LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libm.so.6 exec "$0"`, mpi}),
			mpi + " was started with LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libm.so.6, without the tracer's: ", 0},
		"another root":  {[]string{"unshare", "-m", "sh", "-ec", inRoot, mpi}, "runs in another root, in which ", 0},
		"read-only":     {[]string{"unshare", "-m", "sh", "-ec", readOnly, mpi}, mpi + " runs where ", 0},
		"dlopen":        {[]string{loads, "libmpi.so.40"}, loads + " had loaded libmpi.so.40", 0},
		"no MPI":        {[]string{plain}, plain + " had the tracer loaded, but no MPI library", 0},
		"Python":        {[]string{"/usr/bin/python3", "-c", "import time; time.sleep(.4)"}, "had the tracer loaded, but no MPI library", 0},
		"short":         {[]string{"true"}, "true is not linked with an MPI library, and no process called MPI_Init", 0},
		"killed before": {[]string{"sh", "-c", "ABORT=1 exec " + mpi}, mpi + " had the tracer and libmpi.so.40", 134},
		"failed":        {[]string{"sh", "-c", "exit 3"}, "the command ended with exit code 3, and no rank recorded a call: there is no trace", 3},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			natively := shimtest.Run(t, nil, test.command...)
			if test.code == 134 {
				require.Equal(t, "aborted", natively.Signal)
			} else {
				require.Equal(t, test.code, natively.Code, natively.Stderr)
			}
			r := trace(t, nil, test.command...)
			if test.code == 0 {
				test.code = 70
			}
			assert.Equal(t, test.code, r.code, r.stderr)
			assert.Equal(t, natively.Stdout, r.stdout)
			var said []string
			for line := range strings.Lines(r.stderr) {
				if strings.HasPrefix(line, "cairn: ") && !strings.Contains(line, "this process continues untraced") {
					said = append(said, line)
				}
			}
			require.Len(t, said, 1, r.stderr)
			assert.Contains(t, said[0], test.says)
			assert.NoFileExists(t, filepath.Join(r.dir, "trace.cairn"))
		})
	}
}

// Of a program that left no trace under `cairn exec`, `cairn finish` says why, as far as its file
// tells.
func TestWordsAboutUntracedTasks(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	plain := compileC(t, dir, "plain", "int main(void) { return 0; }", "gcc")
	copyWith(t, plain, "setuid", `chown 65534 "$1"; chmod 4755 "$1"`)
	compileC(t, dir, "static", "int main(void) { return 0; }", "gcc", "-static")
	for i, test := range []struct{ program, says string }{
		{"./setuid", filepath.Join(dir, "setuid") + " is setuid, and the system loads no LD_PRELOAD"},
		{"./static", filepath.Join(dir, "static") + " is statically linked"},
		{"./plain", filepath.Join(dir, "plain") + " is not linked with an MPI library"},
	} {
		out := filepath.Join(dir, "out-"+strconv.Itoa(i))
		cmd := task(strconv.Itoa(i), 0, 1, out, "env", test.program)
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		r := cairn(t, out, "finish", out)
		require.Equal(t, 64, r.code, r.stderr)
		require.Contains(t, r.stderr, ": nothing was traced: "+test.says)
		require.Contains(t, r.stderr, "no task of the run recorded a call")
	}
	awaitCompressors(t, dir)
}

// Where some ranks are traced and others not, what was seen of the others is reported with their
// numbers.
func TestWordsAboutUntracedRanks(t *testing.T) {
	t.Parallel()
	const implementation = "openmpi"
	ring := shimtest.Example(implementation, "ring")
	command := shimtest.Launch(implementation, 2, "sh", "-c", `[ "$OMPI_COMM_WORLD_RANK" = 0 ] || unset LD_PRELOAD; exec "$0" --iterations 100 --work-us 10000`, ring)
	r := trace(t, nil, command...)
	assert.Equal(t, 70, r.code, r.stderr)
	assert.Contains(t, r.stderr, "cairn: ranks 1 left no trace; "+ring+" was started without the tracer's LD_PRELOAD: ")
	assert.FileExists(t, filepath.Join(r.dir, "trace.cairn"))
}
