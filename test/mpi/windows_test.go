//go:build mpi

package mpi

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/seektest"
	tracefile "github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// TestWindowsOfRequests: windows/windows.c has windows of non-blocking sends, completed in all
// ways, as benchmarks of bandwidth do. The run is traced, analyzed, analyzed in part and clustered;
// a seek to any call gives what the program did.
func TestWindowsOfRequests(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.ImplementationsOf(0) {
		t.Run(implementation, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "windows")
			out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-o", program,
				"windows/windows.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			command := launch(implementation, 4, "windows", "24")
			command[len(command)-2] = program
			r := trace(t, nil, command...)
			require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
			require.Contains(t, r.stdout, "right")
			file := filepath.Join(r.dir, "trace.cairn")

			whole := tracedSpan(t, file)
			for _, part := range [][2]float64{{0, 0.5}, {0.3, 0.6}, {0.7, 1}} {
				from, to := strconv.FormatFloat(part[0]*whole, 'f', 6, 64), strconv.FormatFloat(part[1]*whole, 'f', 6, 64)
				a := cairn(t, "", "analyze", file, "-o", filepath.Join(t.TempDir(), "part"), "--from", from, "--to", to)
				require.Equal(t, 0, a.code, "from %s to %s: %s\n%s", from, to, a.stdout, a.stderr)
			}
			c := cairn(t, "", "clusters", file)
			require.Equal(t, 0, c.code, "%s\n%s", c.stdout, c.stderr)

			b, err := os.ReadFile(file)
			require.NoError(t, err)
			reader, err := tracefile.Open(bytes.NewReader(b), int64(len(b)))
			require.NoError(t, err)
			n, err := seektest.Reader(reader, seektest.Options{Seed: 1, Seeks: 400, After: 9})
			require.NoError(t, err)
			t.Logf("%d calls compared", n)
		})
	}
}

// tracedSpan is from the first call of any rank to the last, in seconds.
func tracedSpan(t *testing.T, file string) float64 {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	r, err := tracefile.Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	var first, last int64
	for i := range r.Threads().Len() {
		begin, end := r.Span(i)
		if i == 0 || begin < first {
			first = begin
		}
		last = max(last, end)
	}
	return float64(last-first) * 1e-9
}
