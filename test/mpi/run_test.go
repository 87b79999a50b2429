//go:build mpi

package mpi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// implementations are the MPIs that the tests run under, by the name of their folder in examples/bin.
var implementations = []string{"openmpi", "mpich"}

// launch gives the command that starts program on ranks processes of this machine, more than it has cores.
func launch(implementation string, ranks int, program string, arguments ...string) []string {
	command := []string{"mpirun." + implementation, "-np", strconv.Itoa(ranks)}
	if implementation == "openmpi" {
		command = append(command, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	path := filepath.Join(root(), "examples", "bin", implementation, program)
	return append(append(command, path), arguments...)
}

// root is the project's folder: tests run in their package's.
func root() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}

// result is what one `cairn run` left.
type result struct {
	code           int
	stdout, stderr string
	dir            string
}

// trace runs a command under `cairn run` and waits for its end.
func trace(t *testing.T, flags []string, command ...string) result {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	arguments := append([]string{"run", "-o", dir}, flags...)
	arguments = append(append(arguments, "--"), command...)
	return cairn(t, dir, arguments...)
}

// cairn runs the command itself.
func cairn(t *testing.T, dir string, arguments ...string) result {
	t.Helper()
	cmd := exec.Command(filepath.Join(root(), "bin", "cairn"), arguments...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+yield)
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

// counts reads the lines "counts rank=R MPI_Send=12 …" that the programs print, one or several a rank.
func counts(t *testing.T, output string) map[int]map[string]uint64 {
	t.Helper()
	byRank := map[int]map[string]uint64{}
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "counts" {
			continue
		}
		var rank int
		_, err := fmt.Sscanf(fields[1], "rank=%d", &rank)
		require.NoError(t, err, line)
		if byRank[rank] == nil {
			byRank[rank] = map[string]uint64{}
		}
		for _, field := range fields[2:] {
			name, value, _ := strings.Cut(field, "=")
			n, err := strconv.ParseUint(value, 10, 64)
			require.NoError(t, err, line)
			byRank[rank][name] = n
		}
	}
	return byRank
}

// dumpCounts counts the calls of a trace by rank and function, from `cairn dump --json`.
func dumpCounts(t *testing.T, file string) map[int]map[string]uint64 {
	t.Helper()
	r := cairn(t, "", "dump", file, "--json")
	require.Equal(t, 0, r.code, r.stderr)
	byRank := map[int]map[string]uint64{}
	for line := range strings.Lines(r.stdout) {
		var call struct {
			Rank     int
			Function string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &call), line)
		if byRank[call.Rank] == nil {
			byRank[call.Rank] = map[string]uint64{}
		}
		byRank[call.Rank][call.Function]++
	}
	return byRank
}

func TestMain(m *testing.M) {
	for _, implementation := range implementations {
		if _, err := exec.LookPath("mpirun." + implementation); err != nil {
			fmt.Fprintf(os.Stderr, "mpirun.%s is missing: `hack/install.sh base` installs it\n", implementation)
			os.Exit(1)
		}
	}
	dir, err := os.MkdirTemp("", "cairn-yield")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	yield = filepath.Join(dir, "ucp_yield.so")
	if out, err := exec.Command("gcc", "-O2", "-shared", "-fPIC", "-o", yield, "yield/ucp_yield.c").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "gcc yield/ucp_yield.c: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// yield is a library for tests with more ranks than cores (yield/ucp_yield.c). It is also what every user's own
// LD_PRELOAD is to Cairn: something to keep.
var yield string
