//go:build mpi

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// stress builds testdata/stress.c with a sanitizer, together with a shim and a reference log that
// also have it, and an MPI library of one process. It returns the
// program and the tracer's root.
func stress(t *testing.T, sanitizer, sanitized string, config string) (program, root string) {
	t.Helper()
	root = t.TempDir()
	lib := filepath.Join(root, "lib")
	require.NoError(t, os.Mkdir(lib, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(root, "spool"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "config.json"), []byte(config), 0o644))
	for _, name := range []string{"libcairn-mpich.so", "libcairn-reference-mpich.so"} {
		require.NoError(t, os.Symlink(filepath.Join(sanitized, name), filepath.Join(lib, name)))
	}
	show, err := exec.Command("mpicc.mpich", "-show").Output()
	require.NoError(t, err)
	compile := []string{"-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=" + sanitizer, "-pthread"}
	for _, f := range strings.Fields(string(show)) {
		if strings.HasPrefix(f, "-I") {
			compile = append(compile, f)
		}
	}
	build := func(out string, arguments ...string) string {
		command := exec.Command("gcc", append(append(compile, "-o", out), arguments...)...)
		output, err := command.CombinedOutput()
		require.NoError(t, err, string(output))
		return out
	}
	library := build(filepath.Join(lib, "libmpi.so"), "-fPIC", "-shared", source("fakempi.c"))
	// a sanitizer must come before all libraries, so the shim is linked, not preloaded
	return build(filepath.Join(root, "stress"), source("stress.c"), "-Wl,--no-as-needed",
		filepath.Join(lib, "libcairn-mpich.so"), library, "-Wl,-rpath,"+lib), root
}

// Six threads exercise everything that the shim's threads share, under the sanitizers; their calls
// must agree with the reference log. If tracing stops in between, the program must not notice.
//
// ThreadSanitizer does not see the loader's lock. It tolerates that dl_iterate_phdr reads a
// module's name that a dlopen wrote, but not its terminating zero, which it only notices if the
// name fills whole words. So writes by the loader itself are suppressed.
func TestStressUnderSanitizers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("in make test-all")
	}
	suppressions := filepath.Join(t.TempDir(), "suppressions")
	require.NoError(t, os.WriteFile(suppressions, []byte("called_from_lib:ld-linux\n"), 0o644))
	for _, test := range []struct{ target, sanitizer string }{{"tsan", "thread"}, {"asan", "address,undefined"}} {
		program, root := stress(t, test.sanitizer, shimtest.Variant(t, test.target), `{"verify": true}`)
		environment := []string{"TSAN_OPTIONS=exitcode=66:suppressions=" + suppressions, "ASAN_OPTIONS=exitcode=66:detect_leaks=0", "UBSAN_OPTIONS=print_stacktrace=1"}
		t.Run(test.target, func(t *testing.T) {
			r := shimtest.Run(t, environment, program, "60")
			require.Equal(t, 0, r.Code, r.Stdout+r.Stderr)
			directories, err := filepath.Glob(filepath.Join(root, "spool", "*"))
			require.NoError(t, err)
			require.Len(t, directories, 1)
			result, err := Compare(open(t, directories), directories)
			require.NoError(t, err)
			for _, d := range result.Disagreements {
				t.Error(d)
			}
			require.Equal(t, 1, result.Ranks)
			t.Logf("%d calls", result.Calls)
		})
		t.Run(test.target+"/stops", func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "config.json"), []byte(`{"spool_limit_bytes": 1000000}`), 0o644))
			r := shimtest.Run(t, environment, program, "60")
			require.Equal(t, 0, r.Code, r.Stdout+r.Stderr)
		})
	}
}
