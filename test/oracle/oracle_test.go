// Package oracle holds the analyzer against oracle.py, a plain and slow second reader that was written from the
// definitions and shares no code with it.
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

	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
)

// cairn is the command under test, built once.
var cairn string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cairn-oracle-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		cairn = filepath.Join(dir, "cairn")
		build := exec.Command("go", "build", "-o", cairn, "github.com/cairn-mpi/cairn/cmd/cairn")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// An answer is what oracle.py says of a run; times are in nanoseconds from its start.
type answer struct {
	Run           int64            `json:"run_ns"`
	Useful        map[string]int64 `json:"useful_ns"` // by rank
	LoadBalance   float64          `json:"load_balance"`
	Communication float64          `json:"communication"`
	Parallel      float64          `json:"parallel"`
	Path          []segment        `json:"path"`
	Waits         []wait           `json:"waits"`
	Tied          int64            `json:"tied_ns"` // waiting for two causes that came at the same moment
	Messages      int              `json:"messages"`
	Faults        []string         `json:"faults"` // of the path that was shown to it
}

// A segment is [rank, from, to].
type segment [3]int64

// A wait is [rank, cause, kind, begin, until].
type wait struct {
	Rank, Cause  int
	Kind         string
	Begin, Until int64
}

func (w *wait) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&w.Rank, &w.Cause, &w.Kind, &w.Begin, &w.Until})
}

// A report is what the test reads of report.json.
type report struct {
	RunSeconds   float64 `json:"run_seconds"`
	CriticalPath struct {
		ByRank []struct {
			Rank    int     `json:"rank"`
			Seconds float64 `json:"seconds"`
		} `json:"by_rank"`
	} `json:"critical_path"`
	Efficiency struct {
		Parallel      float64 `json:"parallel"`
		LoadBalance   float64 `json:"load_balance"`
		Communication float64 `json:"communication"`
	} `json:"efficiency"`
	Ranks []struct {
		Rank        int     `json:"rank"`
		Calls       int     `json:"calls"`
		Computation float64 `json:"computation_seconds"`
	} `json:"ranks"`
	WaitStates []struct {
		Kind    string  `json:"kind"`
		Seconds float64 `json:"seconds"`
	} `json:"wait_states"`
	Waits struct {
		ByPair []struct {
			Rank    int     `json:"rank"`
			Cause   int     `json:"cause"`
			Kind    string  `json:"kind"`
			Seconds float64 `json:"seconds"`
		} `json:"by_pair"`
		PairsOmitted int `json:"pairs_omitted"`
	} `json:"waits"`
}

// dump is the text of a trace, one line of JSON a call.
func dump(t *testing.T, file string) []byte {
	t.Helper()
	return run(t, nil, cairn, "dump", "--json", file)
}

// ask has oracle.py read calls; path, if there is one, is another's answer for it to judge.
func ask(t *testing.T, calls []byte, path []segment, tolerance int64) answer {
	t.Helper()
	command := []string{"python3", "oracle.py"}
	if path != nil {
		text, err := json.Marshal(map[string]any{"segments": path, "tolerance_ns": tolerance})
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "path.json")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		command = append(command, file)
	}
	var a answer
	require.NoError(t, json.Unmarshal(run(t, calls, command...), &a))
	return a
}

// analyze has the analyzer say what it finds.
func analyze(t *testing.T, file string) report {
	t.Helper()
	out := t.TempDir()
	run(t, nil, cairn, "analyze", file, "-o", out)
	return readReport(t, out)
}

func readReport(t *testing.T, dir string) report {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	require.NoError(t, err)
	var r report
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

func run(t *testing.T, in []byte, command ...string) []byte {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(t, err, "%v\n%s", command, &stderr)
	return out
}

// assertAgree compares the two where times are exact: everything is equal to the nanosecond. The only freedom is in
// report.json's numbers, seconds as float64.
func assertAgree(t *testing.T, o answer, r report) {
	t.Helper()
	const ns = 1e-9
	near := func(want, got, tolerance float64, what string, args ...any) {
		t.Helper()
		assert.InDeltaf(t, want, got, tolerance, what, args...)
	}
	near(float64(o.Run)*ns, r.RunSeconds, ns, "run")
	near(o.LoadBalance, r.Efficiency.LoadBalance, 1e-9, "load balance")
	near(o.Communication, r.Efficiency.Communication, 1e-9, "communication efficiency")
	near(o.Parallel, r.Efficiency.Parallel, 1e-9, "parallel efficiency")
	for _, rank := range r.Ranks {
		near(float64(o.Useful[fmt.Sprint(rank.Rank)])*ns, rank.Computation, ns, "computation of rank %d", rank.Rank)
	}

	tied := float64(o.Tied) * ns // where two causes came at the same moment, either is right
	if o.Tied == 0 {
		path, theirs := map[int]float64{}, map[int]float64{}
		for _, s := range o.Path {
			path[int(s[0])] += float64(s[2]-s[1]) * ns
		}
		for _, s := range r.CriticalPath.ByRank {
			theirs[s.Rank] = s.Seconds
		}
		each(path, theirs, func(rank int, want, got float64) {
			near(want, got, float64(len(o.Path)+1)*ns, "rank %d on the critical path", rank)
		})
	}

	kinds, found := map[string]float64{}, map[string]float64{}
	type pair struct {
		rank, cause int
		kind        string
	}
	pairs, foundPairs := map[pair]float64{}, map[pair]float64{}
	for _, w := range o.Waits {
		kinds[w.Kind] += float64(w.Until-w.Begin) * ns
		pairs[pair{w.Rank, w.Cause, w.Kind}] += float64(w.Until-w.Begin) * ns
	}
	for _, w := range r.WaitStates {
		if w.Kind != "late sender, wrong order, same source" && w.Kind != "late sender, wrong order, different sources" {
			found[w.Kind] = w.Seconds // those are late senders, too
		}
	}
	for _, w := range r.Waits.ByPair {
		foundPairs[pair{w.Rank, w.Cause, w.Kind}] = w.Seconds
	}
	each(kinds, found, func(k string, want, got float64) { near(want, got, tied+float64(len(o.Waits)+1)*ns, "%s", k) })
	if r.Waits.PairsOmitted == 0 {
		each(pairs, foundPairs, func(p pair, want, got float64) {
			near(want, got, tied+float64(len(o.Waits)+1)*ns, "%v", p)
		})
	}
}

func each[K comparable](a, b map[K]float64, visit func(k K, a, b float64)) {
	keys := map[K]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	for k := range keys {
		visit(k, a[k], b[k])
	}
}

// pathIn is the analyzer's whole path, in order of time: report.json has short pieces put together.
func pathIn(t *testing.T, file string) []segment {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	reader, err := trace.Open(f, info.Size())
	require.NoError(t, err)
	findings, err := criticalpath.Analyze(t.Context(), timeline.Of(reader), criticalpath.Options{Segments: math.MaxInt32})
	require.NoError(t, err)
	require.Zero(t, findings.Path.MergedSegments)
	path := []segment{}
	for _, s := range findings.Path.Segments {
		if n := len(path); n > 0 && path[n-1][0] == int64(s.Rank) && path[n-1][2] == s.StartNS {
			path[n-1][2] = s.EndNS
			continue
		}
		path = append(path, segment{int64(s.Rank), s.StartNS, s.EndNS})
	}
	return path
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

func simulated(t *testing.T, pattern, timing string, seed int, flags ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.cairn")
	ranks := "16"
	if pattern == "multigrid" || pattern == "stencil3d" {
		ranks = "8"
	}
	command := []string{cairn, "simulate", "-o", file, "--pattern", pattern, "--ranks", ranks, "--iterations", "6",
		"--timing", timing, "--seed", fmt.Sprint(seed)}
	run(t, nil, append(command, flags...)...)
	return file
}

// TestSimulatedRuns: where times are exact, both say the same of every pattern, to the nanosecond.
func TestSimulatedRuns(t *testing.T) {
	var runs, tied atomic.Int32
	t.Cleanup(func() { assert.Less(t, 2*tied.Load(), runs.Load(), "most runs have one answer only") })
	for i, p := range simulate.Names() {
		for j, n := range networks {
			t.Run(p+"/"+n.name, func(t *testing.T) {
				t.Parallel()
				file := simulated(t, p, "lossless", 10*i+j, n.flags...)
				calls := dump(t, file)
				known := ask(t, calls, nil, 0)
				r := analyze(t, file)
				assertAgree(t, known, r)
				assert.Empty(t, ask(t, calls, pathIn(t, file), 0).Faults)
				runs.Add(1)
				if known.Tied > 0 {
					tied.Add(1)
				}
			})
		}
	}
}

// TestLossyRuns: what is found in rounded times is what exact times say, but for what rounding explains. The bound is
// measured here, between the texts of two traces of one run: no moment is off by more than it.
func TestLossyRuns(t *testing.T) {
	for i, p := range simulate.Names() {
		for j, n := range networks {
			for _, timing := range []string{"lossy 5", "lossy 1"} {
				t.Run(p+"/"+n.name+"/"+timing, func(t *testing.T) {
					t.Parallel()
					exact := dump(t, simulated(t, p, "lossless", 10*i+j, n.flags...))
					file := simulated(t, p, timing, 10*i+j, n.flags...)
					bound := furthest(t, exact, dump(t, file))
					known := ask(t, exact, nil, 0)
					r := analyze(t, file)
					assertAgreeWithin(t, known, r, bound)
					judged := ask(t, exact, pathIn(t, file), bound+1)
					assert.Empty(t, judged.Faults, "the path, with moments known to within %d ns", bound)
				})
			}
		}
	}
}

// assertAgreeWithin compares findings of rounded times with those of exact ones. A moment is off by at most bound, so an
// interval by at most twice that.
func assertAgreeWithin(t *testing.T, o answer, r report, bound int64) {
	t.Helper()
	interval := 2 * float64(bound) * 1e-9
	assert.InDelta(t, float64(o.Run)*1e-9, r.RunSeconds, interval+1e-9, "run")

	// The sum of a rank's computations is that of its run less that of its calls: as many intervals as there are gaps.
	var most, sum float64
	for _, rank := range r.Ranks {
		exact := float64(o.Useful[fmt.Sprint(rank.Rank)]) * 1e-9
		assert.InDelta(t, exact, rank.Computation, interval*float64(rank.Calls), "computation of rank %d", rank.Rank)
		most, sum = math.Max(most, exact), sum+exact
	}
	require.Positive(t, most)

	// A wait is one interval. Which of two kinds it has can turn on who was first by less than the bound: all together.
	var waiting, found float64
	for _, w := range o.Waits {
		waiting += float64(w.Until-w.Begin) * 1e-9
	}
	for _, w := range r.WaitStates {
		if w.Kind != "late sender, wrong order, same source" && w.Kind != "late sender, wrong order, different sources" {
			found += w.Seconds
		}
	}
	assert.InDelta(t, waiting, found, interval*float64(calls(r)), "waiting of all ranks")
}

func calls(r report) int {
	n := 0
	for _, rank := range r.Ranks {
		n += rank.Calls
	}
	return n
}

// furthest is by how many nanoseconds the moments of two texts of one run differ at most.
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
