//go:build mpi

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

func source(name string) string {
	return filepath.Join(shimtest.Root(), "tracer", "shim", "testdata", name)
}

// Programs that call MPI in ways that the examples do not.
func TestAwkwardPrograms(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"callbacks", "early", "big", "threads", "semantics", "statuses"} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+name, func(t *testing.T) {
				program := shimtest.Compile(t, implementation, source(name+".c"), "-pthread")
				result, _ := compareProgram(t, implementation, 3, program)
				for _, d := range result.Disagreements {
					t.Error(d)
				}
				require.Equal(t, 3, result.Ranks)
				t.Logf("%d calls, %d unfinished", result.Calls, result.Unfinished)
			})
		}
	}
}

// Roots on intercommunicators: MPI_ROOT, MPI_PROC_NULL, and a rank of the other group, which is
// often the caller's own rank in its group as well. With 4 ranks the groups are of all sizes from 1
// to 3 (MPICH 4.0's MPI_Ibcast does not work with more).
func TestRootsOnIntercommunicators(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			program := shimtest.Compile(t, implementation, source("rooted.c"))
			result, _ := compareProgram(t, implementation, 4, program)
			for _, d := range result.Disagreements {
				t.Error(d)
			}
			require.Equal(t, 4, result.Ranks)
			// per rank: 4 calls at the ends; per communicator 4, and for each of the 4 roots 2
			// questions and 6 collectives, once blocking and once with 6 more calls of MPI_Wait
			require.Equal(t, uint64(4*(4+3*(4+4*(2*(2+6)+6)))), result.Calls)
		})
	}
}

// Record buffers of the smallest size: every record is near the end of one.
func TestSmallBuffers(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{"verify": true, "segment_bytes": 8192})
			program := shimtest.Compile(t, implementation, source("callbacks.c"))
			r := tracer.Run(t, shimtest.Launch(implementation, 3, program)...)
			require.Equal(t, 0, r.Code, r.Stderr)
			directories := tracer.Processes(t)
			result, err := Compare(open(t, directories), directories)
			require.NoError(t, err)
			require.Empty(t, result.Disagreements)
			require.Equal(t, 3, result.Ranks)
		})
	}
}

// A call from Fortran is recorded once, with the arguments of a C program.
func TestFortran(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			program := shimtest.Compile(t, implementation, source("fortran.f90"))
			result, _ := compareProgram(t, implementation, 4, program)
			require.Empty(t, result.Disagreements)
			require.Equal(t, uint64(4*(3+3*10+2)), result.Calls)
		})
	}
}

const jumps = `
program jumps
  implicit none
  include 'mpif.h'
  integer :: error, i
  double precision :: before
  call MPI_Init(error)
  do i = 1, 5
    before = MPI_Wtime()
    if (MPI_Wtime() < before .or. MPI_Wtick() > 1) stop 3
    call MPI_Pcontrol(7)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
`

// Fortran's MPI_Wtime and MPI_Pcontrol may jump to C's: they are recorded, and not counted as
// lost in addition.
func TestFortranJumps(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "jumps.f90")
	require.NoError(t, os.WriteFile(source, []byte(jumps), 0o644))
	for _, implementation := range shimtest.Implementations {
		result, directories := compareProgram(t, implementation, 1, shimtest.Compile(t, implementation, source))
		require.Empty(t, result.Disagreements)
		require.Equal(t, uint64(3+20), result.Calls)
		_, report, err := spool.Recover(directories[0])
		require.NoError(t, err)
		require.Zero(t, report.Lost)
	}
}

// An interpreter loads libmpi into the scope of its own module only.
func TestLibraryLoadedLocally(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			plugin := filepath.Join(t.TempDir(), "plugin.so")
			out, err := exec.Command("mpicc."+implementation, "-w", "-shared", "-fPIC", "-o", plugin, source("plugin.c")).CombinedOutput()
			require.NoError(t, err, string(out))
			loader := filepath.Join(t.TempDir(), "loader")
			out, err = exec.Command("gcc", "-o", loader, source("loader.c")).CombinedOutput()
			require.NoError(t, err, string(out))
			result, _ := compareProgram(t, implementation, 2, loader, plugin)
			require.Empty(t, result.Disagreements)
			require.Equal(t, uint64(2*7), result.Calls)
		})
	}
}

// Functions of libraries that are loaded after MPI_Init and call no MPI themselves.
func TestFunctionsOfLaterLibraries(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			first := shimtest.Compile(t, implementation, source("provided.c"), "-shared", "-fPIC")
			second := shimtest.Compile(t, implementation, source("provided.c"), "-shared", "-fPIC", "-DANOTHER")
			program := shimtest.Compile(t, implementation, source("providers.c"), "-ldl")
			for _, libraries := range [][]string{{first}, {first, second}, {first, second, first}} {
				tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "caller", "verify": true})
				r := tracer.Run(t, shimtest.Launch(implementation, 2, program, libraries...)...)
				require.Equal(t, 0, r.Code, r.Stderr)
				directories := tracer.Processes(t)
				reader := open(t, directories)
				result, err := Compare(reader, directories)
				require.NoError(t, err)
				require.Empty(t, result.Disagreements)
				require.Equal(t, 2, result.Ranks)
				requireFunctions(t, reader, 4*len(libraries))
			}
		})
	}
}

// requireFunctions requires that the functions that rank 0 passed are known by library and offset,
// not only as pointers.
func requireFunctions(t *testing.T, reader *trace.Reader, want int) {
	t.Helper()
	cursor, err := reader.Cursor(0, 0)
	require.NoError(t, err)
	got := 0
	for cursor.Next() {
		for _, v := range cursor.Event().In {
			if v.Form == trace.Code {
				require.Equal(t, "provided", reader.Sites()[v.Int-1].Module)
				got++
			}
		}
	}
	require.NoError(t, cursor.Err())
	require.Equal(t, want, got)
}

// Calls from signal handlers are recorded or counted, and break nothing.
func TestCallsFromSignalHandlers(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "caller"})
			program := shimtest.Compile(t, implementation, source("signals.c"))
			r := tracer.Run(t, shimtest.Launch(implementation, 1, program)...)
			require.Equal(t, 0, r.Code, r.Stderr)
			_, report, err := spool.Recover(tracer.Processes(t)[0])
			require.NoError(t, err)
			require.GreaterOrEqual(t, report.Calls, uint64(300003))
			t.Logf("%d calls, %d lost", report.Calls, report.Lost)
		})
	}
}
