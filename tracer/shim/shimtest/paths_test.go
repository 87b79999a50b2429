//go:build mpi

package shimtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/trace"
)

// compilePaths compiles paths.cc, with frame pointers or without, and the library
// that it loads later.
func compilePaths(t *testing.T, implementation string, flags ...string) (program, plugin string) {
	t.Helper()
	dir := t.TempDir()
	program, plugin = filepath.Join(dir, "paths"), filepath.Join(dir, "later.so")
	source := filepath.Join(Root(), "tracer", "shim", "testdata")
	arguments := append([]string{"-g", "-w", "-std=c++17", "-pthread", "-o", program, filepath.Join(source, "paths.cc"), "-ldl"}, flags...)
	b, err := exec.Command("mpicxx."+implementation, arguments...).CombinedOutput()
	require.NoError(t, err, string(b))
	b, err = exec.Command("mpicc."+implementation, "-g", "-O1", "-shared", "-fPIC", "-o", plugin, filepath.Join(source, "later.c")).CombinedOutput()
	require.NoError(t, err, string(b))
	return program, plugin
}

// traced runs a program on some ranks and returns the finished trace.
func traced(t *testing.T, config map[string]any, implementation string, ranks int, command ...string) *trace.Content {
	t.Helper()
	tracer := NewTracer(t, config)
	result := tracer.Run(t, Launch(implementation, ranks, command[0], command[1:]...)...)
	require.Zero(t, result.Code, result.Stderr)
	runs, problems, err := shipper.RunLocal(t.Context(), shipper.LocalOptions{Spool: filepath.Join(tracer.Dir, "spool"), Out: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Len(t, runs, 1)
	return runs[0].Content
}

// pathsByTag lists the paths of all sends of a rank, as lines, by tag.
func pathsByTag(t *testing.T, c *trace.Content, rank int) map[int][]string {
	t.Helper()
	paths := map[int][]string{}
	for i := range c.Threads.Len() {
		if c.Threads.At(i).Rank != rank {
			continue
		}
		cursor, err := c.Cursor(rank, c.Threads.At(i).Thread)
		require.NoError(t, err)
		for cursor.Next() {
			e := cursor.Event()
			if e.Function.Name != "MPI_Send" {
				continue
			}
			var lines []string
			for site := range e.CallPath {
				line := strconv.Itoa(site.Line)
				if site.Line == 0 {
					line = site.Module
				}
				lines = append(lines, line)
			}
			tag := int(e.In[4].Int)
			paths[tag] = append(paths[tag], strings.Join(lines, "<"))
		}
		require.NoError(t, cursor.Err())
	}
	return paths
}

func TestCallPaths(t *testing.T) {
	t.Parallel()
	for _, implementation := range Implementations {
		for _, flags := range [][]string{{"-O2", "-fomit-frame-pointer"}, {"-O2", "-fno-omit-frame-pointer"}, {"-O0"}} {
			t.Run(fmt.Sprintf("%s%s", implementation, strings.Join(flags, "")), func(t *testing.T) {
				program, plugin := compilePaths(t, implementation, flags...)
				c := traced(t, map[string]any{"call_sites": "path"}, implementation, 2, program, plugin)
				tail := "101<1014" // the call in tail is a jump
				if flags[0] == "-O0" {
					tail = "101<701<1014"
				}
				want := map[int][]string{
					10:  {"101<1003"},
					20:  {"101<204<202<202<202<1004"},
					21:  {"101<204<1005"},
					30:  {"101<303<1006"},
					31:  {"101<303<401<1007"},
					32:  {"101<303<1008"},
					33:  {"101<303<1009"},
					34:  {"101<303<401<1010"},
					50:  {"101<505<1011"},
					70:  {tail},
					80:  {"101<801<1016", "101<801<804<1016"},
					81:  {"101<1018"},
					90:  {"101<901"},
					110: {"101<1024", "101<1024", "101<1024"},
					120: {"52<58<1031"},
					130: slices.Repeat([]string{"101<303<952<1025", "101<303<401<953<1025"}, 3),
					131: slices.Repeat([]string{"101<505<954<1025"}, 3),
				}
				for rank := range 2 {
					got := pathsByTag(t, c, rank)
					// through the C library, with or without its symbols: main called qsort,
					// which called compare
					require.Len(t, got[60], 1)
					require.Regexp(t, `^101<601(<\w[\w.]*)+<1013$`, got[60][0])
					delete(got, 60)
					require.Equal(t, want, got)
				}
				require.Equal(t, "path", c.Meta.CallSites)
			})
		}
	}
}

// Without call paths, call sites in a library that was loaded later are still known.
func TestCallSitesInLaterLibraries(t *testing.T) {
	t.Parallel()
	for _, implementation := range Implementations {
		program, plugin := compilePaths(t, implementation, "-O2")
		c := traced(t, map[string]any{"call_sites": "caller"}, implementation, 2, program, plugin)
		require.Equal(t, []string{"52"}, pathsByTag(t, c, 1)[120])
		require.Equal(t, []string{"1003"}, pathsByTag(t, c, 1)[10], "line 101 is in a wrapper")
	}
}

// TestCallsFromOtherStacks: the stack of a coroutine or a signal handler, one that assembly
// switches to unseen, a thread's small stack, and frames that nothing describes. Behind each stack
// is memory that must not be read.
func TestCallsFromOtherStacks(t *testing.T) {
	t.Parallel()
	for _, implementation := range Implementations {
		for _, sites := range []string{"caller", "path"} {
			for _, flags := range [][]string{{"-O2", "-fomit-frame-pointer"}, {"-O0"}, {"-O1", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"}} {
				t.Run(implementation+sites+flags[0], func(t *testing.T) {
					program := Compile(t, implementation, filepath.Join(Root(), "tracer", "shim", "testdata", "stacks.c"), append(flags, "-g", "-pthread")...)
					c := traced(t, map[string]any{"call_sites": sites}, implementation, 1, program)
					var calls uint64
					for _, thread := range c.Threads.All() {
						calls += thread.Calls
					}
					require.EqualValues(t, 3+5*20, calls)
				})
			}
		}
	}
}

// The path of a call from Fortran has the program's procedures, and not the MPI
// library's Fortran layer.
func TestCallPathsOfFortran(t *testing.T) {
	t.Parallel()
	for _, implementation := range Implementations {
		for _, flags := range [][]string{{"-O0"}, {"-O1", "-fomit-frame-pointer", "-fno-inline"}} {
			t.Run(implementation+flags[0], func(t *testing.T) {
				source := filepath.Join(Root(), "tracer", "shim", "testdata", "paths.f90")
				program := Compile(t, implementation, source, append(flags, "-J", t.TempDir())...)
				c := traced(t, map[string]any{"call_sites": "path"}, implementation, 2, program)
				for rank := range 2 {
					got := pathsByTag(t, c, rank)
					require.Equal(t, map[int][]string{
						// line 28 is gfortran's main, which calls the program
						10: {"11<32<28"},
						20: {"11<21<19<19<19<33<28"},
						30: {"11<21<34<28"},
					}, got)
				}
			})
		}
	}
}
