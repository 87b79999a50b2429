//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

const controlled = `
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, in = 0, out;
	MPI_Request r;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 10; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Pcontrol(1);
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Ibarrier(MPI_COMM_WORLD, &r);
		MPI_Pcontrol(0);
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Pcontrol(2);
		MPI_Sendrecv(&in, 1, MPI_INT, 0, 0, &out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
	MPI_Pcontrol(1);
	MPI_Finalize();
	return 0;
}
`

// The calls that are recorded of a program that turns tracing off and on, with groups excluded by
// the configuration.
func TestControl(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "controlled.c")
	require.NoError(t, os.WriteFile(source, []byte(controlled), 0o644))
	for _, implementation := range shimtest.Implementations {
		program := shimtest.Compile(t, implementation, source)
		for name, test := range map[string]struct {
			config map[string]any
			counts map[string]int
		}{
			"regions":   {map[string]any{}, map[string]int{"MPI_Allreduce": 10, "MPI_Comm_rank": 1, "MPI_Sendrecv": 0}},
			"start off": {map[string]any{"start_off": true}, map[string]int{"MPI_Allreduce": 10, "MPI_Comm_rank": 0, "MPI_Sendrecv": 0}},
			"exclude":   {map[string]any{"exclude": "query,collective"}, map[string]int{"MPI_Allreduce": 0, "MPI_Comm_rank": 0}},
			"include":   {map[string]any{"include": "p2p"}, map[string]int{"MPI_Allreduce": 0, "MPI_Comm_rank": 0}},
		} {
			t.Run(implementation+"/"+name, func(t *testing.T) {
				test.config["verify"] = true
				tracer := shimtest.NewTracer(t, test.config)
				r := tracer.Run(t, shimtest.Launch(implementation, 2, program)...)
				require.Equal(t, 0, r.Code, r.Stderr)
				directories := tracer.Processes(t)
				reader := open(t, directories)
				result, err := Compare(reader, directories)
				require.NoError(t, err)
				require.Empty(t, result.Disagreements)
				require.Equal(t, 2, result.Ranks)
				counts := map[string]int{}
				gaps := 0
				cursor, err := reader.Cursor(0, 0)
				require.NoError(t, err)
				for cursor.Next() {
					counts[cursor.Event().Function.Name]++
					if cursor.Event().Signature.Untraced {
						gaps++
					}
				}
				require.NoError(t, cursor.Err())
				// lifetimes of requests are always recorded
				require.Equal(t, 10, counts["MPI_Ibarrier"])
				require.Equal(t, 10, counts["MPI_Wait"])
				require.Equal(t, 31, counts["MPI_Pcontrol"])
				for function, n := range test.counts {
					require.Equal(t, n, counts[function], function)
				}
				require.GreaterOrEqual(t, gaps, 30)
				switch name {
				case "exclude":
					require.Equal(t, []string{"collective", "query"}, reader.Meta().Excluded)
				case "include":
					require.Len(t, reader.Meta().Excluded, 8)
				}
			})
		}
	}
}

const attributed = `
program attributed
  implicit none
  include 'mpif.h'
  integer :: error, keyval, old, extra, i
  integer(kind=MPI_ADDRESS_KIND) :: value, state
  logical :: found
  call MPI_Init(error)
  do i = 1, 2
    extra = 0
    state = 0
    call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, old, extra, error)
    call MPI_Attr_put(MPI_COMM_SELF, old, 17 * i, error)
    call MPI_Attr_get(MPI_COMM_SELF, old, extra, found, error)
    if (.not. found .or. extra /= 17 * i) stop 3
    call MPI_Attr_delete(MPI_COMM_SELF, old, error)
    call MPI_Keyval_free(old, error)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, state, error)
    value = 18 * i
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, error)
    value = 0
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, found, error)
    if (.not. found .or. value /= 18 * i) stop 4
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, error)
    call MPI_Comm_free_keyval(keyval, error)
    call MPI_Pcontrol(0)
  end do
  call MPI_Finalize(error)
end program
`

// Fortran procedures that do not call the C function are excluded like all others: by the
// configuration, and while tracing is off (the second round).
func TestControlOfFortran(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "attributed.f90")
	require.NoError(t, os.WriteFile(source, []byte(attributed), 0o644))
	for _, implementation := range shimtest.Implementations {
		program := shimtest.Compile(t, implementation, source)
		for exclude, want := range map[string]int{"": 1, "query,environment": 0} {
			tracer := shimtest.NewTracer(t, map[string]any{"verify": true, "exclude": exclude})
			r := tracer.Run(t, shimtest.Launch(implementation, 1, program)...)
			require.Equal(t, 0, r.Code, r.Stdout+r.Stderr)
			directories := tracer.Processes(t)
			reader := open(t, directories)
			result, err := Compare(reader, directories)
			require.NoError(t, err)
			require.Empty(t, result.Disagreements)
			counts := map[string]int{}
			cursor, err := reader.Cursor(0, 0)
			require.NoError(t, err)
			for cursor.Next() {
				counts[cursor.Event().Function.Name]++
			}
			require.NoError(t, cursor.Err())
			for _, name := range []string{"MPI_Attr_put", "MPI_Attr_get", "MPI_Comm_set_attr", "MPI_Comm_get_attr"} {
				require.Equal(t, want, counts[name], "%s, without %q: %s", implementation, exclude, name)
			}
			require.Equal(t, 2, counts["MPI_Comm_create_keyval"], "lives of handles are always there")
		}
	}
}
