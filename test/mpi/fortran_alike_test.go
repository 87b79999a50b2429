//go:build mpi

package mpi

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// predefinedCallback: MPICH has one address in C for all that copy, and NULL for all
// that do nothing.
var predefinedCallback = regexp.MustCompile(`^MPI_(?:(?:COMM|TYPE|WIN)_)?(DUP|NULL)_(?:(?:COPY|DELETE)_)?FN$`)

// TestFortranAlike: a program in C and the same program in Fortran have the same signatures and
// results. What has different forms in Fortran (ignored statuses, constants that are addresses,
// predefined callbacks and keyvals) is recorded as in C.
func TestFortranAlike(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "alike")
			out, err := exec.Command("mpicc."+implementation, "-g", "-O1", "-w", "-o", program, "fortran/alike.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			c := callsAlike(t, implementation, program)
			require.Greater(t, len(c), 60)
			for _, binding := range bindings {
				t.Run(binding, func(t *testing.T) {
					fortran := callsAlike(t, implementation, fortranProgram(t, implementation, binding, "alike"))
					require.Len(t, fortran, len(c))
					for i := range c {
						if implementation == "openmpi" && c[i]["function"] == "MPI_Request_get_status" {
							// Its Fortran layer does not look when the status is ignored.
							assert.Equal(t, map[string]any{"request": c[i]["args"].(map[string]any)["request"], "flag": 0., "status": nil}, fortran[i]["args"])
							assert.Equal(t, true, fortran[i]["status_ignored"])
							continue
						}
						assert.Equal(t, c[i], fortran[i])
					}
				})
			}
		})
	}
}

// callsAlike returns the calls of a program on one rank, without what must differ: times, call
// sites, MPI_Init's arguments, and attributes, which are integers in Fortran and addresses in C.
func callsAlike(t *testing.T, implementation, program string) []map[string]any {
	t.Helper()
	command := launch(implementation, 1, program)
	command[len(command)-1] = program
	r := trace(t, []string{"--verify"}, command...)
	require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
	assert.Contains(t, r.stdout+r.stderr, "agree with the reference log")
	dump := cairn(t, "", "dump", filepath.Join(r.dir, "trace.cairn"), "--json")
	require.Equal(t, 0, dump.code, dump.stderr)
	var calls []map[string]any
	for line := range strings.Lines(dump.stdout) {
		var call map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &call), line)
		arguments := call["args"].(map[string]any)
		for _, name := range []string{"argc", "argv", "attribute_val", "extra_state"} {
			delete(arguments, name)
		}
		for name, value := range arguments {
			if s, ok := value.(string); ok {
				arguments[name] = predefinedCallback.ReplaceAllString(s, "MPI_${1}_FN")
			}
		}
		calls = append(calls, map[string]any{"function": call["function"], "args": arguments, "return": call["return"],
			"status_ignored": call["status_ignored"]})
	}
	return calls
}
