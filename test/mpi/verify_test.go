//go:build mpi

package mpi

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// TestVerify runs every example under both MPIs with 4, 9 and 16 ranks: the decoded trace must
// equal the reference log in every call, and the program's own counts. With -short only two of them
// run with 16 ranks, one for point-to-point calls and one for collectives, and each under one of
// the MPIs; tracer/verify's TestExamples has it under the other one.
func TestVerify(t *testing.T) {
	t.Parallel()
	programs, err := filepath.Glob(shimtest.Example("mpich", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, programs, "`make examples` builds them")
	for i, path := range programs {
		program := filepath.Base(path)
		for _, implementation := range shimtest.ImplementationsOf(i + 1) {
			for _, ranks := range []int{4, 9, 16} {
				if testing.Short() && (ranks == 9 || ranks == 16 && program != "stencil" && program != "collectives") {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", implementation, program, ranks), func(t *testing.T) {
					r := trace(t, []string{"--verify"}, launch(implementation, ranks, program, "--counts")...)
					require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
					assert.Contains(t, r.stdout+r.stderr, fmt.Sprintf("on %d ranks agree with the reference log", ranks))
					file := filepath.Join(r.dir, "trace.cairn")
					assert.EqualValues(t, ranks, info(t, file)["ranks"])
					printed := printedCounts(t, r.stdout)
					require.Len(t, printed, ranks, r.stdout)
					assert.Equal(t, printed, dumpCounts(t, file))
					assertPathIsTheRun(t, r.dir)
				})
			}
		}
	}
}

// TestVerdict is the local form of the project's promise: the slow rank is named, and a balanced
// job has no blame.
func TestVerdict(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("CAIRN_TEST_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	named := regexp.MustCompile(`(?m)^Rank \d+ `)
	for _, implementation := range implementations {
		slow := random.IntN(4)
		verdict := func(t *testing.T, want string, more ...string) {
			oneOfThree(t, func(t testing.TB) {
				r := trace(t, nil, launch(implementation, 4, "stencil", append([]string{"--iterations", "60", "--work-us", "10000"}, more...)...)...)
				require.Equal(t, 0, r.code, r.stderr)
				require.FileExists(t, filepath.Join(r.dir, "clock.json"))
				require.Equal(t, want, named.FindString(r.stdout), r.stdout)
			})
		}
		t.Run(implementation+"/slow", func(t *testing.T) {
			t.Logf("seed %d makes rank %d slow (CAIRN_TEST_SEED repeats it)", seed, slow)
			verdict(t, fmt.Sprintf("Rank %d ", slow), "--slow-rank", strconv.Itoa(slow), "--slow-factor", "3")
		})
		t.Run(implementation+"/balanced", func(t *testing.T) { verdict(t, "") })
	}
}

// TestExitCodes: the application's own code if it is not zero, else 70 if tracing failed.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		code    int
		says    string
	}{
		"no MPI program":      {[]string{"true"}, 70, "not linked with an MPI library"},
		"failing, no MPI":     {[]string{"false"}, 1, "exit code 1, and no rank recorded a call"},
		"no such command":     {[]string{"no-such-command"}, 127, "no-such-command"},
		"application exits 3": {launch("openmpi", 4, "early-exit", "--exit", "3"), 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := trace(t, nil, c.command...)
			assert.Equal(t, c.code, r.code, r.stderr)
			assert.Contains(t, r.stderr, c.says)
			assert.LessOrEqual(t, strings.Count(progress.ReplaceAllString(r.stderr, ""), "cairn:"), 1, "one message: %s", r.stderr)
		})
	}
}

// TestNeverInitialized: a program that calls only what MPI allows without MPI_Init ends as it does
// without the tracer.
func TestNeverInitialized(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "never.c")
	require.NoError(t, os.WriteFile(source, []byte(`
#include <mpi.h>
#include <string.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int a, b;
	if (!strcmp(argv[1], "tools"))
		MPI_T_init_thread(MPI_THREAD_SINGLE, &a), MPI_T_cvar_get_num(&b), MPI_T_finalize();
	else
		MPI_Get_version(&a, &b);
	exit(atoi(argv[2]));
}
`), 0o644))
	for _, implementation := range implementations {
		program := strings.TrimSuffix(source, ".c")
		out, err := exec.Command("mpicc."+implementation, "-o", program, source).CombinedOutput()
		require.NoError(t, err, "%s", out)
		for calls, code := range map[string]int{"tools": 0, "version": 7} {
			r := trace(t, nil, program, calls, strconv.Itoa(code))
			assert.Equal(t, code, r.code, r.stderr)
			assert.Contains(t, r.stderr, "no call of MPI_Init was seen")
			assert.Equal(t, code != 0, strings.Contains(r.stderr, "ended with exit code 7"), r.stderr)
		}
		r := trace(t, nil, "mpirun."+implementation, "-np", "2", program, "version", "0")
		assert.Equal(t, 0, r.code, r.stderr)
	}
}

// TestStaticBinary: nothing can be loaded into it, and that is reported.
func TestStaticBinary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "static.c"), filepath.Join(dir, "static")
	require.NoError(t, os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o644))
	out, err := exec.Command("gcc", "-static", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, command := range [][]string{{program}, {"mpirun.mpich", "-np", "2", program}} {
		r := trace(t, nil, command...)
		assert.Equal(t, 70, r.code, r.stderr)
		assert.Contains(t, r.stderr, program+" is statically linked")
	}
}

// TestUserPreloadIsKept: what the user preloads is still loaded, before the tracer.
func TestUserPreloadIsKept(t *testing.T) {
	t.Parallel()
	r := trace(t, nil, "sh", "-c", "echo $LD_PRELOAD")
	assert.True(t, strings.HasPrefix(r.stdout, yield+":"), r.stdout)
}

// TestFullDisk: the program's output and exit code are the same as without a tracer, and one line
// reports the problem.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "full")
	require.NoError(t, os.Mkdir(dir, 0o755))
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=200k", "full", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	arguments := append([]string{"run", "-o", dir, "--"}, launch("openmpi", 4, "ring")...)
	r := cairn(t, dir, arguments...)
	assert.Equal(t, 70, r.code, r.stderr)
	plain := exec.Command(arguments[4], arguments[5:]...)
	plain.Env = append(os.Environ(), shimtest.OwnSessions(t))
	want, err := plain.Output()
	require.NoError(t, err)
	assert.Contains(t, r.stdout, string(want))
	assert.Regexp(t, "(?i)no space left", r.stderr, "from the tracer or from who writes the trace, whoever comes to it first")
}

// TestEarlyExitKeepsTheTrace: the trace of a failing program is written, too.
func TestEarlyExitKeepsTheTrace(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			r := trace(t, nil, launch(implementation, 4, "early-exit", "--exit", "3")...)
			require.NotEqual(t, 0, r.code)
			v := info(t, filepath.Join(r.dir, "trace.cairn"))
			assert.EqualValues(t, 4, v["ranks"])
			assert.Positive(t, v["calls"])
		})
	}
}

// TestSeveralWorlds: a script that starts two MPI jobs gives two runs.
func TestSeveralWorlds(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			one := strings.Join(launch(implementation, 4, "ring"), " ")
			r := trace(t, nil, "sh", "-c", one+" && "+one)
			require.Equal(t, 0, r.code, r.stderr)
			files, err := filepath.Glob(filepath.Join(r.dir, "run-*", "trace.cairn"))
			require.NoError(t, err)
			require.Len(t, files, 2)
			for _, file := range files {
				assert.EqualValues(t, 4, info(t, file)["ranks"])
			}
		})
	}
}

// TestBytesAddUp: the sizes of the parts of a trace add up to its size.
func TestBytesAddUp(t *testing.T) {
	t.Parallel()
	r := trace(t, nil, launch("openmpi", 4, "ring")...)
	require.Equal(t, 0, r.code, r.stderr)
	v := info(t, filepath.Join(r.dir, "trace.cairn"))
	var sum, total float64
	for part, size := range v["bytes"].(map[string]any) {
		if part == "total" {
			total = size.(float64)
		} else {
			sum += size.(float64)
		}
	}
	stat, err := os.Stat(filepath.Join(r.dir, "trace.cairn"))
	require.NoError(t, err)
	assert.EqualValues(t, stat.Size(), total)
	assert.Equal(t, total, sum)
}

// TestDamagedTrace: any truncation is one error with exit code 65.
func TestDamagedTrace(t *testing.T) {
	t.Parallel()
	r := trace(t, nil, launch("openmpi", 4, "ring")...)
	require.Equal(t, 0, r.code, r.stderr)
	whole, err := os.ReadFile(filepath.Join(r.dir, "trace.cairn"))
	require.NoError(t, err)
	damaged := filepath.Join(t.TempDir(), "damaged.cairn")
	for _, keep := range []int{0, 10, len(whole) / 2, len(whole) - 1} {
		require.NoError(t, os.WriteFile(damaged, whole[:keep], 0o644))
		for _, command := range [][]string{{"info", damaged}, {"dump", damaged}, {"analyze", damaged, "-o", t.TempDir()}} {
			got := cairn(t, "", command...)
			assert.Equal(t, 65, got.code, "%v of %d bytes: %s", command, keep, got.stderr)
			assert.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
		}
	}
}
