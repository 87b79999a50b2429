package skeleton_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/skeleton"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// The skeleton of a run, compiled, makes on other numbers of ranks the calls that the
// simulator makes there.
func TestElsewhere(t *testing.T) {
	for name, test := range map[string]struct {
		config simulate.Config
		at     []int
	}{
		"ring":             {simulate.Config{Pattern: "ring", Ranks: 8}, []int{2, 5, 16}},
		"grid":             {simulate.Config{Pattern: "stencil2d", Ranks: 16}, []int{1, 2, 6, 9, 36}},
		"smallest grid":    {simulate.Config{Pattern: "stencil2d", Ranks: 9}, []int{16, 20}},
		"oblong grid":      {simulate.Config{Pattern: "stencil2d", Ranks: 12}, []int{4, 6, 20}},
		"torus":            {simulate.Config{Pattern: "stencil2d", Ranks: 16, Periodic: true}, []int{4, 6, 9, 12}},
		"both diagonals":   {simulate.Config{Pattern: "stencil2d", Ranks: 12, Points: 9}, []int{6, 9, 15}},
		"Cartesian":        {simulate.Config{Pattern: "stencil2d", Ranks: 12, Cartesian: true}, []int{6, 9}},
		"grid in space":    {simulate.Config{Pattern: "stencil3d", Ranks: 27}, []int{8, 24, 36}},
		"torus in space":   {simulate.Config{Pattern: "stencil3d", Ranks: 27, Periodic: true}, []int{8, 36}},
		"all around":       {simulate.Config{Pattern: "stencil3d", Ranks: 27, Points: 27}, []int{12, 36}},
		"hypercube":        {simulate.Config{Pattern: "hypercube", Ranks: 16}, []int{2, 8, 32}},
		"butterfly":        {simulate.Config{Pattern: "butterfly", Ranks: 16}, []int{4, 32}},
		"binomial tree":    {simulate.Config{Pattern: "tree", Ranks: 16}, []int{2, 6, 13, 31}},
		"tree of thirteen": {simulate.Config{Pattern: "tree", Ranks: 13}, []int{8, 16}},
		"wavefront":        {simulate.Config{Pattern: "wavefront", Ranks: 9}, []int{2, 12, 16}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.config.Iterations = 3
			s := made(t, simulated(t, test.config), skeleton.Options{})
			require.Empty(t, s.Fixed)
			program := compiled(t, s.Source)
			for _, n := range append(test.at, test.config.Ranks) {
				elsewhere := test.config
				elsewhere.Ranks = n
				assert.Equal(t, calls(t, simulated(t, elsewhere)), output(t, program, n), "on %d ranks", n)
			}
		})
	}
}

// Where the numbers of ranks along dimensions are not those of MPI_Dims_create, they are given.
func TestGivenDimensions(t *testing.T) {
	config := simulate.Config{Pattern: "stencil2d", Ranks: 18, Grid: []int{3, 6}, Iterations: 2}
	s := made(t, simulated(t, config), skeleton.Options{})
	require.Empty(t, s.Fixed)
	program := compiled(t, s.Source)
	// the order of 3 x 6 is kept: the last one is the largest
	config.Ranks, config.Grid = 10, []int{2, 5}
	assert.Equal(t, calls(t, simulated(t, config)), output(t, program, 10))

	config.Ranks, config.Grid = 16, []int{8, 2}
	t.Setenv("SKELETON_DIMS", "8x2")
	assert.Equal(t, calls(t, simulated(t, config)), output(t, program, 16))
	for _, wrong := range []string{"8", "4x3", "x", "16x1x1x", "-4x-4"} {
		t.Setenv("SKELETON_DIMS", wrong)
		out, err := exec.Command(program, "16").CombinedOutput()
		assert.Error(t, err, wrong)
		assert.Contains(t, string(out), "SKELETON_DIMS must have 2 numbers", wrong)
	}
	t.Setenv("SKELETON_DIMS", "")

	config = simulate.Config{Pattern: "stencil2d", Ranks: 18, Grid: []int{9, 2}, Periodic: true, Iterations: 2}
	s = made(t, simulated(t, config), skeleton.Options{})
	assert.NotEmpty(t, s.Fixed, "of two ranks around a ring, both sides are the same")

	config.Ranks, config.Grid = 24, []int{8, 3}
	program = compiled(t, made(t, simulated(t, config), skeleton.Options{}).Source)
	require.NoError(t, os.Unsetenv("SKELETON_DIMS"))
	out, err := exec.Command(program, "12").CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "set SKELETON_DIMS")
}

// What a trace does not tell of other numbers of ranks.
func TestNotElsewhere(t *testing.T) {
	for _, test := range []struct {
		config simulate.Config
		why    string
	}{
		{simulate.Config{Pattern: "stencil2d", Ranks: 4}, "no rank has neighbors on both sides"},
		{simulate.Config{Pattern: "stencil3d", Ranks: 8}, "only 4 of 8 ranks come to MPI_Irecv"},
		{simulate.Config{Pattern: "hypercube", Ranks: 8}, "MPI_Irecv"},
		{simulate.Config{Pattern: "transpose", Ranks: 16}, "source of MPI_Irecv at transpose.c:20 differs from call to call"},
		{simulate.Config{Pattern: "irregular", Ranks: 16}, "is a table"},
	} {
		s := made(t, simulated(t, test.config), skeleton.Options{})
		assert.Contains(t, strings.Join(s.Fixed, "\n"), test.why, test.config)
		assert.Empty(t, s.Sizes)
	}
	program := compiled(t, made(t, simulated(t, simulate.Config{Pattern: "butterfly", Ranks: 16}), skeleton.Options{}).Source)
	out, err := exec.Command(program, "12").CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "cannot run on 12: peers are ranks that differ in one bit")
}

// compiled makes a program of a skeleton that runs its ranks one by one, without MPI.
func compiled(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Replace(source, "int main(void)", "int skeleton(void)", 1) +
		"\nint main(int argc, char **argv) { return run(skeleton, argc > 1 ? atoi(argv[1]) : 1); }\n"
	file, program := filepath.Join(dir, "skeleton.c"), filepath.Join(dir, "skeleton")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.Command("gcc", "-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-D_DEFAULT_SOURCE", "-I", "testdata/stub", "-o", program, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

func output(t *testing.T, program string, ranks int) string {
	t.Helper()
	command := exec.Command(program, fmt.Sprint(ranks))
	command.Env = append(os.Environ(), "SKELETON_COMPUTE=0")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// calls are those of a trace as the stub prints them.
func calls(t *testing.T, of timeline.Trace) string {
	t.Helper()
	var b strings.Builder
	for _, r := range of.Ranks().All() {
		fmt.Fprintf(&b, "rank %d\n", r.Rank)
		cursor, err := of.Calls(r.Rank, 0)
		require.NoError(t, err)
		for cursor.Next() {
			e := cursor.Event()
			b.WriteString(e.Function.Name)
			if e.Semantics.Operation == semantics.CommunicatorCreate {
				for _, x := range e.In[2].List {
					fmt.Fprintf(&b, " %d", x.Int)
				}
			}
			for _, one := range []struct {
				role   semantics.Role
				format string
			}{{semantics.RequestCount, " %[1]d of %[1]d"}, {semantics.Destination, " to %d"}, {semantics.Source, " from %d"}, {semantics.Tag, " tag %d"}, {semantics.Count, " count %d"}} {
				if at := e.Semantics.In[one.role]; at >= 0 {
					fmt.Fprintf(&b, one.format, e.In[at].Int)
				}
			}
			b.WriteByte('\n')
		}
		require.NoError(t, cursor.Err())
	}
	return b.String()
}
