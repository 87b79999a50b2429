//go:build mpi

package shimtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program without MPI pays only for mapping the libraries: with the shims preloaded, the
// libraries themselves are the only additional files that it opens, and it starts no thread.
func TestNoCostWithoutMPI(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal("strace is missing: hack/install.sh base installs it")
	}
	tracer := NewTracer(t, map[string]any{})
	calls := func(environment ...string) []string {
		out := filepath.Join(t.TempDir(), "strace")
		r := Run(t, nil, append(append([]string{"strace", "-f", "-o", out, "-e", "trace=openat,open,clone,clone3,mkdir,execve", "env"}, environment...), "ls", "/")...)
		require.Equal(t, 0, r.Code, r.Stderr)
		b, err := os.ReadFile(out)
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(b), `execve("`+"/bin/ls")
		if after == "" {
			_, after, _ = strings.Cut(string(b), "/ls\"")
		}
		return strings.Split(after, "\n")
	}
	count := func(lines []string, what string) (n int) {
		for _, l := range lines {
			if strings.Contains(l, what) && !strings.Contains(l, "libcairn") {
				n++
			}
		}
		return n
	}
	plain, preloaded := calls(), calls("LD_PRELOAD="+tracer.Preload())
	for _, what := range []string{"open", "clone", "mkdir"} {
		require.Equal(t, count(plain, what), count(preloaded, what), what)
	}
}

func TestBindNow(t *testing.T) {
	t.Parallel()
	tracer := NewTracer(t, map[string]any{})
	r := Run(t, []string{"LD_PRELOAD=" + tracer.Preload(), "LD_BIND_NOW=1"}, "ls", "/")
	require.Equal(t, 0, r.Code, r.Stderr)
	require.Empty(t, r.Stderr)
}

func TestStaticBinary(t *testing.T) {
	t.Parallel()
	tracer := NewTracer(t, map[string]any{})
	source := filepath.Join(t.TempDir(), "static.c")
	require.NoError(t, os.WriteFile(source, []byte("#include <stdio.h>\nint main(void) { puts(\"static\"); return 5; }\n"), 0o644))
	program := filepath.Join(t.TempDir(), "static")
	out, err := exec.Command("gcc", "-static", "-o", program, source).CombinedOutput()
	require.NoError(t, err, string(out))
	r := tracer.Run(t, program)
	require.Equal(t, 5, r.Code)
	require.Equal(t, "static\n", r.Stdout)
}
