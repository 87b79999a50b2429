package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/test/built"
	"github.com/cairn-mpi/cairn/trace"
)

// run runs cairn and returns its output.
func run(t *testing.T, arguments ...string) []byte {
	t.Helper()
	c := exec.Command(built.Command(t, "cairn"), arguments...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(t, err, "%v\n%s", arguments, &stderr)
	return out
}

// dump is the text of a trace, one line of JSON a call.
func dump(t *testing.T, file string) []byte {
	t.Helper()
	return run(t, "dump", "--json", file)
}

func ask(t *testing.T, calls []byte, path []Segment, tolerance int64) Answer {
	t.Helper()
	a, err := Ask(calls, path, tolerance)
	require.NoError(t, err)
	return a
}

// analyze returns the findings of the analyzer.
func analyze(t *testing.T, file string) Report {
	t.Helper()
	out := t.TempDir()
	run(t, "analyze", file, "-o", out)
	r, err := ReadReport(out)
	require.NoError(t, err)
	return r
}

// pathIn returns the analyzer's complete path, in order of time: report.json has short path
// segments merged.
func pathIn(t *testing.T, file string) []Segment {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	reader, err := trace.Open(f, info.Size())
	require.NoError(t, err)
	found, err := pass.Find(t.Context(), timeline.Of(reader), path.Analysis.Pass, func(r *pass.Run) { pass.Give(r, accounts.Segments, math.MaxInt32) })
	require.NoError(t, err)
	require.Zero(t, found.Path.MergedSegments)
	list := []Segment{}
	for _, s := range found.Path.Segments {
		if n := len(list); n > 0 && list[n-1][0] == int64(s.Rank) && list[n-1][2] == s.StartNS {
			list[n-1][2] = s.EndNS
			continue
		}
		list = append(list, Segment{int64(s.Rank), s.StartNS, s.EndNS})
	}
	return list
}

// A network decides which messages wait for their receivers.
var networks = []struct {
	name  string
	flags []string
}{
	{"eager", []string{"--bytes", "1024", "--slow-rank", "3", "--slow-percent", "60", "--noise-percent", "5"}},
	{"rendezvous", []string{"--bytes", "100000", "--eager", "4096", "--latency", "5000", "--linear-percent", "70", "--noise-percent", "20", "--compute", "300us"}},
	{"slow", []string{"--bytes", "30000", "--latency", "200000", "--per-byte", "4", "--noise-percent", "50", "--compute", "200us"}},
}

func simulated(t *testing.T, pattern, timing string, seed int, flags []string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.cairn")
	ranks := "16"
	if pattern == "multigrid" || pattern == "stencil3d" {
		ranks = "8"
	}
	iterations := "6"
	if testing.Short() {
		iterations = "3"
	}
	arguments := []string{"simulate", "-o", file, "--pattern", pattern, "--ranks", ranks, "--iterations", iterations,
		"--timing", timing, "--seed", fmt.Sprint(seed)}
	run(t, append(arguments, flags...)...)
	return file
}

// eachRun calls test for every pattern on every network; in make test on one of the networks.
func eachRun(t *testing.T, test func(t *testing.T, pattern string, seed int, flags []string)) {
	t.Helper()
	for i, p := range simulate.Names() {
		for j, n := range networks {
			if testing.Short() && j != i%len(networks) {
				continue
			}
			t.Run(p+"/"+n.name, func(t *testing.T) {
				t.Parallel()
				test(t, p, 10*i+j, n.flags)
			})
		}
	}
}

// TestSimulatedRuns: for exact times, both agree on every pattern, to the nanosecond.
func TestSimulatedRuns(t *testing.T) {
	var runs, tied atomic.Int32
	t.Cleanup(func() {
		assert.Less(t, 2*tied.Load(), runs.Load(), "most runs have one answer only")
	})
	eachRun(t, func(t *testing.T, pattern string, seed int, flags []string) {
		file := simulated(t, pattern, "lossless", seed, flags)
		calls := dump(t, file)
		known := ask(t, calls, nil, 0)
		assert.Empty(t, Differences(known, analyze(t, file)))
		assert.Empty(t, ask(t, calls, pathIn(t, file), 0).Faults)
		runs.Add(1)
		if known.Tied > 0 {
			tied.Add(1)
		}
	})
}

// TestLossyRuns: the findings for rounded times agree with those for exact times, within what
// rounding explains. The bound is measured here, between the texts of two traces of one run: it is
// the largest error of a time.
func TestLossyRuns(t *testing.T) {
	timings := []string{"lossy 5", "lossy 1"}
	if testing.Short() {
		timings = timings[:1]
	}
	eachRun(t, func(t *testing.T, pattern string, seed int, flags []string) {
		exact := dump(t, simulated(t, pattern, "lossless", seed, flags))
		known := ask(t, exact, nil, 0)
		for _, timing := range timings {
			file := simulated(t, pattern, timing, seed, flags)
			bound := furthest(t, exact, dump(t, file))
			assert.Empty(t, DifferencesWithin(known, analyze(t, file), bound), timing)
			judged := ask(t, exact, pathIn(t, file), bound+1)
			assert.Empty(t, judged.Faults, "%s: the path, with moments known to within %d ns", timing, bound)
		}
	})
}

// furthest returns the largest difference between the times of two texts of one run, in
// nanoseconds.
func furthest(t *testing.T, a, b []byte) int64 {
	t.Helper()
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	require.Len(t, y, len(x))
	var bound int64
	for i := range x {
		if len(x[i]) == 0 {
			continue
		}
		var p, q struct {
			Rank     int   `json:"rank"`
			Index    int   `json:"index"`
			Start    int64 `json:"start_ns"`
			Duration int64 `json:"duration_ns"`
		}
		require.NoError(t, json.Unmarshal(x[i], &p))
		require.NoError(t, json.Unmarshal(y[i], &q))
		require.Equal(t, [2]int{p.Rank, p.Index}, [2]int{q.Rank, q.Index})
		bound = max(bound, abs(p.Start-q.Start), abs(p.Start+p.Duration-q.Start-q.Duration))
	}
	return bound
}

func abs(a int64) int64 { return max(a, -a) }
