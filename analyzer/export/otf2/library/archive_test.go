//go:build otf2

package library_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/export/otf2"
	"github.com/cairn-mpi/cairn/analyzer/export/otf2/library"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// read has OTF2's own readers read an archive, and compare it with what the trace
// says call by call.
func read(t *testing.T, anchor string, r *trace.Reader, part bool) {
	t.Helper()
	out, err := exec.Command("otf2-print", "-Werror", "--silent", anchor).CombinedOutput()
	require.NoError(t, err, "%s", out)
	dump := filepath.Join(t.TempDir(), "dump.json")
	require.NoError(t, os.WriteFile(dump, dumped(t, r), 0o600))
	// Debian's Python has python3-otf2
	check := exec.Command("/usr/bin/python3", "testdata/check.py", anchor, dump)
	if part {
		check.Args = append(check.Args, "part")
	}
	out, err = check.CombinedOutput()
	require.NoError(t, err, "hack/install.sh readers installs python3-otf2: %s", out)
	t.Logf("%s", bytes.TrimSpace(out))
}

// dumped is what cairn dump --json prints.
func dumped(t *testing.T, r *trace.Reader) []byte {
	var lines []byte
	for _, thread := range r.Threads().All() {
		c, err := timeline.Of(r).Calls(thread.Rank, thread.Thread)
		require.NoError(t, err)
		for c.Next() {
			lines = append(c.Event().AppendJSON(lines), '\n')
		}
		require.NoError(t, c.Err())
	}
	return lines
}

func written(t *testing.T, r *trace.Reader, o otf2.Options) (string, otf2.Summary) {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "archive")
	a, err := library.Create(directory)
	require.NoError(t, err)
	summary, err := otf2.Write(t.Context(), a, timeline.Of(r), o)
	require.NoError(t, err)
	return filepath.Join(directory, "traces.otf2"), summary
}

func TestSimulatedProgramsAreReadByOTF2(t *testing.T) {
	for _, test := range []struct {
		name    string
		program simulate.Config
		options otf2.Options
	}{
		{"stencil", simulate.Config{Pattern: "stencil2d", Ranks: 9, Cartesian: true}, otf2.Options{}},
		{"wildcards, rounded", simulate.Config{Pattern: "master-worker", Ranks: 5, Timing: "lossy 5"}, otf2.Options{}},
		{"communicators", simulate.Config{Pattern: "two-phase", Ranks: 8}, otf2.Options{}},
		{"all kinds by chance", simulate.Config{Pattern: "random", Ranks: 6}, otf2.Options{}},
		{"two clocks, rounded", simulate.Config{
			Pattern: "ring", Ranks: 6, RanksPerNode: 2, Skew: []time.Duration{0, 3 * time.Millisecond}, Timing: "lossy 20",
		}, otf2.Options{}},
		{"a time range", simulate.Config{Pattern: "stencil2d", Ranks: 9}, otf2.Options{From: 1300 * time.Microsecond, To: 2 * time.Millisecond}},
		{"some ranks", simulate.Config{Pattern: "hypercube", Ranks: 8}, otf2.Options{Ranks: []int{0, 1, 5}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := tracetest.Open(t, tracetest.Simulated(t, test.program))
			anchor, summary := written(t, r, test.options)
			assert.Positive(t, summary.Calls)
			part := test.options.To > 0 || test.options.Ranks != nil
			if part {
				assert.Positive(t, summary.LeftOut)
				assert.Less(t, summary.Calls, r.Threads().Calls())
			}
			read(t, anchor, r, part)
		})
	}
}

// A message that rounded times have arrive before it was sent is repaired, and the archive says so.
func TestEffectsComeAfterCausesInArchives(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 1) })
	b.Rank(0).Recv(2, 4, 1, 0).Collective("MPI_Barrier", 5, 9)
	b.Rank(1).Send(5, 6, 0).Collective("MPI_Barrier", 10, 11)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(20, 21) })
	r := b.Open(t)
	anchor, summary := written(t, r, otf2.Options{})
	assert.EqualValues(t, 2, summary.Repaired)
	assert.InDelta(t, tracetest.Unit, summary.LargestNS, tracetest.Unit/10)
	read(t, anchor, r, false)
	out, err := exec.Command("otf2-print", "-I", anchor).CombinedOutput()
	require.NoError(t, err)
	assert.Contains(t, string(out), "2 calls ended before their cause and were moved")
}

// Communicators may have members of which there are no calls: ranks whose pods were lost, and ranks
// of other worlds (spawned, or met at a port), on either side and in what both are merged to. No
// two processes are one.
func TestMembersWithoutCallsInArchives(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		n := 2 + random.IntN(6)
		b := tracetest.New(n)
		b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 1) })
		others := func() []int { return slices.Repeat([]int{-1}, 1+random.IntN(4)) }
		known, unknown := 0, 0
		meet := func(name string, local []int, calls func(r *tracetest.Rank, comm int)) {
			remote := others()
			comm := b.Comm(name, local...)
			b.Communicator(comm).Remote = trace.NewRankList(remote)
			if random.IntN(2) == 0 {
				b.Communicator(comm).RemoteWorld = "of " + name
				known += len(remote)
			} else {
				unknown += len(remote)
			}
			b.Ranks(func(_ int, r *tracetest.Rank) { calls(r, comm) })
		}
		merged := append(random.Perm(n), others()...)
		unknown += len(merged) - n // nothing tells which they are
		var into int
		meet("spawned", random.Perm(n), func(r *tracetest.Rank, comm int) {
			r.Call("MPI_Comm_spawn", 2, 3, tracetest.Args{"intercomm": tracetest.Comm(comm)})
		})
		into = b.Comm("merged", merged...)
		b.Ranks(func(_ int, r *tracetest.Rank) {
			r.Call("MPI_Intercomm_merge", 4, 5, tracetest.Args{"intercomm": tracetest.Comm(into - 1), "newintracomm": tracetest.Comm(into)})
		})
		unknown += len(merged) - n // the same in another communicator
		meet("spawned by all", merged, func(r *tracetest.Rank, comm int) {
			r.Call("MPI_Comm_spawn", 6, 7, tracetest.Args{"comm": tracetest.Comm(into), "intercomm": tracetest.Comm(comm)})
		})
		b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(20, 21) })
		lost := random.IntN(n)
		for _, rank := range random.Perm(n)[:lost] {
			b.Without(rank)
		}
		r := b.Open(t)
		anchor, _ := written(t, r, otf2.Options{})
		read(t, anchor, r, false)
		out, err := exec.Command("otf2-print", "-A", "-Werror", anchor).CombinedOutput()
		require.NoError(t, err, "seed %d: %s", seed, out)
		for text, times := range map[string]int{
			`LOCATION +\d+ +Name: "Not in the trace:(\d+)".* Events: 0, Group: "MPI Rank \d+"`: lost,
			`LOCATION +\d+ +Name: "Rank \d+ of world of [^"]*"`:                                known,
			`LOCATION +\d+ +Name: "Rank \d+ of another world in [^"]*"`:                        unknown,
		} {
			found := regexp.MustCompile(text).FindAllString(string(out), -1)
			names := map[string]bool{}
			for _, line := range found {
				names[regexp.MustCompile(`Name: "[^"]*"`).FindString(line)] = true
			}
			assert.Len(t, found, times, "seed %d, %s: %s", seed, text, out)
			assert.Len(t, names, times, "seed %d, %s: %s", seed, text, out)
		}
	}
}

func TestAnArchiveIsNotOverwritten(t *testing.T) {
	r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 2}))
	anchor, _ := written(t, r, otf2.Options{})
	_, err := library.Create(filepath.Dir(anchor))
	assert.ErrorContains(t, err, "File does already exist")
}
