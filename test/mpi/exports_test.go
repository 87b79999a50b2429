//go:build mpi

package mpi

import (
	"debug/elf"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// notWrapped has the functions of libmpi that are not traced, by a pattern of their names,
// with the reason.
var notWrapped = map[string]map[string]string{
	"openmpi": {
		`^MPIX_\w+_init$`:                            "what became MPI 4.0's persistent collectives, under the names of its draft; in no header but mpi-ext.h",
		`^MPIX_Query_cuda_support$`:                  "a constant of the build; no communication, no object",
		`^MPI_(WTIME|WTICK|AINT_ADD|AINT_DIFF)_F90$`: "bodies of Fortran functions, called from libmpi_mpifh only",
		`^MPI_(COMM_|TYPE_|WIN_)?(DUP_FN|NULL_COPY_FN|NULL_DELETE_FN)$|^MPI_CONVERSION_FN_NULL$`: "callbacks, which the program names and libmpi calls",
	},
	"mpich": {
		`^MPIX_(GPU_query_support|Query_(cuda|hip|ze)_support)$`:          "a constant of the build; no communication, no object",
		`^MPIX_Comm_(agree|failure_ack|failure_get_acked|revoke|shrink)$`: "fault tolerance, a proposal that no standard has yet",
		`^MPIX_Delete_error_(class|code|string)$`:                         "of MPI 5.0, under the names of its draft",
		`^MPIX_Grequest_(class_allocate|class_create|start)$`:             "MPICH's own generalized requests, made for ROMIO",
	},
}

// neverCalled has the functions that no program of the families calls, with the reason.
var neverCalled = map[string]map[string]string{
	"openmpi": {"MPI_Abort": "does not return, so its record is that of a call in flight: TestEarlyExitKeepsTheTrace"},
	"mpich": {
		"MPI_Abort":                       "does not return, so its record is that of a call in flight: TestEarlyExitKeepsTheTrace",
		"MPI_T_pvar_get_info":             "built without performance variables",
		"MPI_T_pvar_handle_alloc":         "built without performance variables, and crashes for one that does not exist",
		"MPI_T_event_handle_get_info":     "has no events, and crashes without one",
		"MPI_T_event_handle_free":         "has no events, and crashes without one",
		"MPI_T_event_register_callback":   "has no events, and crashes without one",
		"MPI_T_event_callback_get_info":   "has no events, and crashes without one",
		"MPI_T_event_set_dropped_handler": "has no events, and crashes without one",
		"MPI_T_event_read":                "has no events, and crashes without one",
		"MPI_T_event_copy":                "has no events, and crashes without one",
		"MPI_T_event_get_timestamp":       "has no events, and crashes without one",
		"MPI_T_event_get_source":          "has no events, and crashes without one",
	},
}

// exportedFunctions are the MPI functions that a library defines for others, by name.
func exportedFunctions(t *testing.T, library string) []string {
	t.Helper()
	f, err := elf.Open(library)
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC && regexp.MustCompile(`^MPIX?_`).MatchString(s.Name) {
			names[s.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// libmpi is the library that a program of an implementation is linked with.
func libmpi(t *testing.T, implementation string) string {
	t.Helper()
	out, err := exec.Command("ldd", filepath.Join(shimtest.Root(), "examples", "bin", implementation, "ring")).Output()
	require.NoError(t, err, "`make examples` builds it")
	m := regexp.MustCompile(`libmpi(?:ch)?\.so\S* => (\S+)`).FindStringSubmatch(string(out))
	require.NotNil(t, m, "%s", out)
	return m[1]
}

// TestExports: a function of libmpi is in package mpi and wrapped, or in the list
// above with a reason.
func TestExports(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			wrapped := exportedFunctions(t, filepath.Join(shimtest.Root(), "lib", "libcairn-"+implementation+".so"))
			exported := exportedFunctions(t, libmpi(t, implementation))
			// MPI 3.1 has 411 functions; fewer here, and the symbols were not understood.
			require.Greater(t, len(exported), 411)
			excused := map[string]bool{}
			for _, name := range exported {
				if mpi.ByName(name) != nil {
					assert.Contains(t, wrapped, name, "in package mpi, and yet the shim lacks it")
					continue
				}
				known := false
				for pattern := range notWrapped[implementation] {
					if regexp.MustCompile(pattern).MatchString(name) {
						known, excused[pattern] = true, true
					}
				}
				assert.True(t, known, "%s exports %s, which is not traced and not in the list of those that need not be", implementation, name)
			}
			assert.Len(t, excused, len(notWrapped[implementation]), "a pattern that matches nothing excuses nothing")
		})
	}
}

// checkCoverage: every function that both package mpi and libmpi have was called.
func checkCoverage(t *testing.T, implementation string, called map[string]bool) {
	t.Helper()
	var missing, listed []string
	for _, name := range exportedFunctions(t, libmpi(t, implementation)) {
		if mpi.ByName(name) != nil && !called[name] {
			missing = append(missing, name)
		}
	}
	listed = slices.Sorted(maps.Keys(neverCalled[implementation]))
	assert.Equal(t, strings.Join(listed, "\n"), strings.Join(missing, "\n"), "functions that no program calls")
}
