//go:build mpi

package plants

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant/examine"
)

// A build is how a source becomes several copies of its code.
type build struct {
	compiler, source string
	flags            [2][]string // of the first binary, and of the second one, if there are two
}

var builds = map[string]build{
	"inlined":             {"mpicc", "copies.c", [2][]string{{"-O2", "-DINLINED"}}},
	"inlined, with clock": {"mpicc", "copies.c", [2][]string{{"-O3", "-DINLINED", "-DCLOCKS=4000"}}},
	"unrolled":            {"mpicc", "copies.c", [2][]string{{"-O3", "-DINLINED", "-DUNROLLED"}}},
	"template":            {"mpicxx", "copies.cc", [2][]string{{"-O2"}}},
	"two binaries":        {"mpicc", "copies.c", [2][]string{{"-O0"}, {"-O3", "-DINLINED"}}},
	"two of Fortran":      {"mpifort", "copies.f90", [2][]string{{"-O0"}, {"-O3"}}},
}

// command builds the program and returns its command. The first binary is that of rank 0.
func (b *build) command(t *testing.T, mpi string, odd int, oddUS int) []string {
	t.Helper()
	dir, usual := t.TempDir(), 4000
	command := []string{"mpirun." + mpi}
	if mpi == "openmpi" {
		command = append(command, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	for i, flags := range b.flags {
		if flags == nil {
			continue
		}
		program, ranks := filepath.Join(dir, "copies"+strconv.Itoa(i)), "4"
		source, err := filepath.Abs(filepath.Join("program", "copies", b.source))
		require.NoError(t, err)
		out, err := exec.CommandContext(t.Context(), b.compiler+"."+mpi, append(flags, "-g", "-o", program, source)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		if b.flags[1] != nil {
			ranks = []string{"1", "3"}[i]
		}
		if i > 0 {
			command = append(command, ":")
		}
		command = append(command, "-np", ranks, program, strconv.Itoa(odd), strconv.Itoa(oddUS), strconv.Itoa(usual))
	}
	return command
}

// TestCopiesAreOneRegion: what the compiler or the launcher makes several copies of is one region,
// of which the sentence has what all ranks do there. The planted rank is named, and without a plant
// nothing false is said. The machine may have other load: one of three runs must be right about
// that; all must have one region. With -short only the latter is asked: it depends on no times.
func TestCopiesAreOneRegion(t *testing.T) {
	m, err := examine.NewMachine(t.Context(), "../..")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	random := rand.New(rand.NewPCG(1, 29))
	for _, name := range slices.Sorted(maps.Keys(builds)) {
		b := builds[name]
		for _, slow := range []bool{true, false} {
			if testing.Short() && !slow {
				continue
			}
			mpi, odd, sites := []string{"openmpi", "mpich"}[random.IntN(2)], random.IntN(4), []string{"caller", "path"}[random.IntN(2)]
			if testing.Short() {
				sites = "caller" // these have regions
			}
			oddUS := 4000
			if b.flags[1] != nil {
				odd = 0
			}
			if slow {
				oddUS = 10000 + random.IntN(6000)
			}
			t.Run(name+map[bool]string{true: ", slow", false: ""}[slow], func(t *testing.T) {
				command := b.command(t, mpi, odd, oddUS)
				for range 3 {
					out := t.TempDir()
					c := exec.CommandContext(t.Context(), "../../bin/cairn", append([]string{"run", "-o", out, "--force", "--call-sites", sites, "--"}, command...)...)
					c.Env = m.Environment()
					text, err := c.CombinedOutput()
					require.NoError(t, err, "%s", text)
					raw, err := os.ReadFile(filepath.Join(out, "report", "report.json"))
					require.NoError(t, err)
					var report struct {
						Computation []ranks.RegionTime `json:"computation"`
						Verdict     verdict.Verdict    `json:"verdict"`
					}
					require.NoError(t, json.Unmarshal(raw, &report))
					says := report.Verdict.Text
					if sites == "caller" {
						assertOneRegion(t, report.Computation)
					}
					require.NotContains(t, says, "alone")
					require.NotContains(t, says, "next to nothing to do")
					if testing.Short() || slow && names(&report.Verdict, odd) || !slow && !names(&report.Verdict, -1) {
						return
					}
					t.Logf("rank %d, %d us, %s, %s: %s", odd, oddUS, mpi, sites, says)
				}
				t.Error("never right")
			})
		}
	}
}

// assertOneRegion checks that there is one region between two reductions, which all iterations of
// all ranks are instances of.
func assertOneRegion(t *testing.T, regions []ranks.RegionTime) {
	t.Helper()
	found := 0
	for _, r := range regions {
		assert.NotEqual(t, "MPI_Wtime", r.Before.Function)
		if r.After.Function == "MPI_Allreduce" && r.Before.Function == "MPI_Allreduce" {
			found++
			assert.True(t, strings.HasPrefix(r.Before.CallSite, "copies."), r.Before.CallSite)
			assert.EqualValues(t, 4*39, r.Count)
		}
	}
	assert.Equal(t, 1, found)
}

// names reports whether a cause of the verdict is that a rank computes longer than the others; −1:
// any rank.
func names(v *verdict.Verdict, rank int) bool {
	for _, c := range v.Causes {
		if c.Kind == verdict.Excess && c.Rank != nil && (rank < 0 || *c.Rank == rank && c.Before.Function == "MPI_Allreduce" && c.OthersSeconds != nil) {
			return true
		}
	}
	return false
}
