//go:build mpi

package mpi

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	cairntrace "github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// late is added to the compressor: requests for ballots of the first ranks are answered late, or
// never if delay is 0, and with vary anything from punctually to that late.
const late = `package spool

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

var lateSince sync.Map

func isLate(p *record.Process, cuts uint64) bool {
	const ranks, delay, vary = %d, %d * time.Millisecond, %t
	rank, err := strconv.Atoi(p.Environment["PMI_RANK"] + p.Environment["OMPI_COMM_WORLD_RANK"])
	if err != nil || rank >= ranks || delay == 0 {
		return err == nil && rank < ranks
	}
	since, _ := lateSince.LoadOrStore([2]uint64{uint64(p.PID), cuts}, time.Now())
	wait := delay
	if vary {
		wait = time.Duration(rand.New(rand.NewPCG(uint64(p.PID), cuts)).Int64N(int64(delay)))
	}
	return time.Since(since.(time.Time)) < wait
}
`

// withCompressor returns the path of a cairn whose compressor is late. The product itself has no
// switch for that.
func withCompressor(t *testing.T, ranks, delayMS int, vary bool) string {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(shimtest.Root(), "tracer/recorder/spool")
	b, err := os.ReadFile(filepath.Join(folder, "writer.go"))
	require.NoError(t, err)
	const place = "func (w *Writer) answerBallot(cuts uint64) error {\n"
	require.Equal(t, 1, strings.Count(string(b), place))
	replaced := map[string]string{}
	for name, text := range map[string]string{
		"writer.go": strings.Replace(string(b), place, place+"\tif isLate(w.process, cuts) {\n\t\treturn nil\n\t}\n", 1),
		"late.go":   fmt.Sprintf(late, ranks, delayMS, vary),
	} {
		replaced[filepath.Join(folder, name)] = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	overlay := filepath.Join(dir, "overlay.json")
	files, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, files, 0o600))
	program := filepath.Join(dir, "bin", "cairn")
	build := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./cmd/cairn")
	build.Dir = shimtest.Root()
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Symlink(filepath.Join(shimtest.Root(), "lib"), filepath.Join(dir, "lib")))
	return program
}

// A compressor that answers late, or never, or only on some ranks: no rank waits for it, and
// without all answers nobody is clustered. Whoever has another rank's times made its calls.
func TestClusteredWithoutAnswers(t *testing.T) {
	t.Parallel()
	for i, test := range []struct {
		name           string
		ranks, delayMS int
		vary           bool
		states         string
	}{
		{"absent", 4, 0, false, "^A+$"},
		{"absent on one rank", 1, 0, false, "^A+$"},
		{"too late", 4, 1000, false, "^A+$"},
		{"some too late", 4, 40, true, "^(A+(CL*)?)+$"},
		{"one sometimes too late", 1, 200, true, "^(A+(CL*)?)+$"},
	} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(test.name+"/"+implementation, func(t *testing.T) {
				program := withCompressor(t, test.ranks, test.delayMS, test.vary)
				r := clusteredBy(t, program, []string{"--verify"}, launch(implementation, 4, "phases", "--iterations", "1500", "--work-us", "100")...)
				require.Equal(t, 0, r.code, r.stderr)
				require.Contains(t, r.stdout, "agree with the reference log")
				trace := openTrace(t, r.dir)
				states := outcomes(trace)
				t.Log(states)
				require.Regexp(t, test.states, states)
				found := info(t, filepath.Join(r.dir, "trace.cairn"))["clustering"].(map[string]any)
				require.Less(t, found["ns_per_vote"], 200e6, "ranks wait for each other only")
				requireCallsOfLeads(t, trace)
			})
		}
	}
}

// requireCallsOfLeads requires that a rank with the times of another one called the same functions.
func requireCallsOfLeads(t *testing.T, trace *cairntrace.Reader) {
	t.Helper()
	calls := map[int][]string{} // of the only thread of each rank
	marks := map[int][]uint64{}
	for _, thread := range trace.Threads().All() {
		cursor, err := trace.Cursor(thread.Rank, thread.Thread)
		require.NoError(t, err)
		for cursor.Next() {
			calls[thread.Rank] = append(calls[thread.Rank], cursor.Event().Function.Name)
		}
		require.NoError(t, cursor.Err())
		marks[thread.Rank] = thread.CallsAtVotes
	}
	for _, thread := range trace.Threads().All() {
		for _, x := range thread.Extrapolations {
			of := func(rank int) []string { return calls[rank][marks[rank][x.Vote-1]:marks[rank][x.Vote]] }
			require.True(t, slices.Equal(of(x.Lead), of(thread.Rank)), "rank %d, vote %d", thread.Rank, x.Vote)
		}
	}
}

// A sidecar that is started on the spool of a run waits until the run ends (shipper, lockSpool):
// two compressors would destroy each other's checkpoints.
func TestRunLocksItsSpool(t *testing.T) {
	t.Parallel()
	const try = `flock --nonblock "$CAIRN_ROOT/spool" echo free || echo locked`
	r := trace(t, nil, "sh", "-c", try)
	require.Equal(t, "locked\n", r.stdout, r.stderr)
}
