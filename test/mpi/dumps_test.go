//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDumps compares `cairn dump` of small programs with expected output that was written by hand:
// arguments, results, statuses, and the ids of handles (for requests, which ones are equal). A line
// of dumps/NAME.dump is a call of a rank, or of all ranks ("*"). One that only an implementation
// has begins with its name. Times are left out.
func TestDumps(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("dumps/*.dump")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, implementation := range implementations {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".dump")
			t.Run(implementation+"/"+name, func(t *testing.T) {
				const ranks = 2
				program := filepath.Join(t.TempDir(), name)
				out, err := exec.Command("mpicc."+implementation, "-g", "-w", "-o", program, "dumps/"+name+".c").CombinedOutput()
				require.NoError(t, err, "%s", out)
				command := launch(implementation, ranks, name)
				command[len(command)-1] = program
				r := trace(t, []string{"--verify"}, command...)
				require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
				for rank, want := range expectedDump(t, file, implementation, ranks) {
					got := cairn(t, "", "dump", filepath.Join(r.dir, "trace.cairn"), "--rank", strconv.Itoa(rank))
					require.Equal(t, 0, got.code, got.stderr)
					var lines []string
					for line := range strings.Lines(got.stdout) {
						// "0.0  12.345678  0.123456  MPI_Send(…"
						_, call, ok := strings.Cut(line, "  MPI_")
						require.True(t, ok, line)
						lines = append(lines, "MPI_"+strings.TrimSuffix(call, "\n"))
					}
					for i := range min(len(want), len(lines)) {
						if strings.Contains(want[i], anyStatus) {
							lines[i] = statusRE.ReplaceAllString(lines[i], anyStatus)
						}
					}
					assert.Equal(t, requestsInOrder(strings.Join(want, "\n")), requestsInOrder(strings.Join(lines, "\n")), "rank %d", rank)
				}
			})
		}
	}
}

// requestsInOrder numbers requests by their first use: in a finished trace only the equality of
// their numbers has a meaning.
func requestsInOrder(dump string) string {
	numbers := map[string]string{}
	return regexp.MustCompile(`request#\d+`).ReplaceAllStringFunc(dump, func(request string) string {
		if numbers[request] == "" {
			numbers[request] = "request#" + strconv.Itoa(len(numbers))
		}
		return numbers[request]
	})
}

// TestDumpDatatypes: with --datatypes, a call that creates a datatype is followed by that datatype.
func TestDumpDatatypes(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		program := filepath.Join(t.TempDir(), "datatypes")
		out, err := exec.Command("mpicc."+implementation, "-g", "-w", "-o", program, "dumps/datatypes.c").CombinedOutput()
		require.NoError(t, err, "%s", out)
		command := launch(implementation, 2, "datatypes")
		command[len(command)-1] = program
		r := trace(t, nil, command...)
		require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
		got := cairn(t, "", "dump", "--datatypes", filepath.Join(r.dir, "trace.cairn"), "--rank", "1")
		require.Equal(t, 0, got.code, got.stderr)
		var made []string
		for line := range strings.Lines(got.stdout) {
			if _, datatype, ok := strings.Cut(line, ") = MPI_SUCCESS  "); ok {
				made = append(made, strings.TrimSpace(datatype))
			}
		}
		assert.Equal(t, []string{
			"{2 MPI_INT every 12 @0} size 8 extent 16 lower bound 0",
			"{2 {2 MPI_INT every 12 @0} @0, {2 MPI_INT every 12 @0} @64} size 24 extent 80 lower bound 0",
			"{2 MPI_INT @0, MPI_DOUBLE @8} size 16 extent 16 lower bound 0",
			"{2 {2 MPI_INT @0} every 16 @16} size 16 extent 64 lower bound 0",
		}, made)
	}
}

// anyStatus matches a status that MPI fills with arbitrary values where the standard requires an
// empty one.
const anyStatus = "{any}"

var statusRE = regexp.MustCompile(`\{source=[^}]*\}`)

// expectedDump reads the calls of each rank from a file.
func expectedDump(t *testing.T, file, implementation string, ranks int) [][]string {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	calls := make([][]string, ranks)
	for line := range strings.Lines(string(b)) {
		who, call, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if who == "openmpi" || who == "mpich" {
			if who != implementation {
				continue
			}
			who, call, _ = strings.Cut(call, " ")
		}
		for rank := range ranks {
			if who == "*" || who == strconv.Itoa(rank) {
				calls[rank] = append(calls[rank], call)
			}
		}
	}
	return calls
}
