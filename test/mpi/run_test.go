//go:build mpi

package mpi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/test/counts"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// implementations are the MPIs that the tests run under, by the name of their folder
// in examples/bin.
var implementations = shimtest.Implementations

// launch gives the command that starts an example on ranks processes of this machine, more than it
// has cores.
func launch(implementation string, ranks int, program string, arguments ...string) []string {
	return shimtest.Launch(implementation, ranks, shimtest.Example(implementation, program), arguments...)
}

// result is what one `cairn run` left.
type result struct {
	code           int
	stdout, stderr string
	dir            string
}

// trace runs a command under `cairn run` and waits for its end.
func trace(t testing.TB, flags []string, command ...string) result {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	arguments := append([]string{"run", "-o", dir}, flags...)
	arguments = append(append(arguments, "--"), command...)
	return cairn(t, dir, arguments...)
}

// cairn runs the command itself.
func cairn(t testing.TB, dir string, arguments ...string) result {
	t.Helper()
	return cairnAt(t, filepath.Join(shimtest.Root(), "bin", "cairn"), dir, arguments...)
}

// cairnAt is cairn with another binary, which has other libraries beside it.
func cairnAt(t testing.TB, binary, dir string, arguments ...string) result {
	t.Helper()
	cmd := exec.Command(binary, arguments...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+yield, shimtest.OwnSessions(t))
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(t, err, "bin/cairn could not be started; `make build` makes it")
	}
	return result{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), dir: dir}
}

// info reads what `cairn info --json` says of a trace.
func info(t *testing.T, file string) map[string]any {
	t.Helper()
	r := cairn(t, "", "info", file, "--json")
	require.Equal(t, 0, r.code, r.stderr)
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
	return v
}

// printedCounts is how many calls the ranks say they made.
func printedCounts(t *testing.T, output string) counts.ByRank {
	t.Helper()
	printed, err := counts.Printed(output)
	require.NoError(t, err)
	return printed
}

// dumpCounts is how many calls the ranks of a trace made.
func dumpCounts(t *testing.T, file string) counts.ByRank {
	t.Helper()
	r := cairn(t, "", "dump", file, "--json")
	require.Equal(t, 0, r.code, r.stderr)
	decoded, err := counts.Decoded(r.stdout)
	require.NoError(t, err)
	return decoded
}

func TestMain(m *testing.M) {
	for _, implementation := range implementations {
		if _, err := exec.LookPath("mpirun." + implementation); err != nil {
			fmt.Fprintf(os.Stderr, "mpirun.%s is missing: `hack/install.sh base` installs it\n", implementation)
			os.Exit(1)
		}
	}
	if _, err := os.Stat(yield); err != nil {
		fmt.Fprintf(os.Stderr, "%v: `make examples` makes it\n", err)
		os.Exit(1)
	}
	for _, e := range shimtest.Oversubscribed {
		name, value, _ := strings.Cut(e, "=")
		_ = os.Setenv(name, value)
	}
	os.Exit(m.Run())
}

// yield is what tests preload to programs. For Cairn it is like a user's own LD_PRELOAD, which must
// be kept.
var yield = shimtest.Yield()
