// Package oracle is a second opinion on the findings of the analyzer: oracle.py, a plain and slow
// reader of `cairn dump --json` that was written from the definitions and shares no code with the
// analyzer.
//
// The input is a run's calls as text and the analyzer's report. The output is the differences.
package oracle

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

//go:embed oracle.py
var program string

// An Answer is the output of oracle.py for a run. Times are in nanoseconds from its start.
type Answer struct {
	Run           int64         `json:"run_ns"`
	Useful        map[int]int64 `json:"useful_ns"` // by rank
	LoadBalance   float64       `json:"load_balance"`
	Communication float64       `json:"communication"`
	Parallel      float64       `json:"parallel"`
	Path          []Segment     `json:"path"`
	Waits         []Wait        `json:"waits"`
	Tied          int64         `json:"tied_ns"` // waiting for two causes at the same time
	Messages      int           `json:"messages"`
	Faults        []string      `json:"faults"` // of the path that it was given
}

// A Segment is [rank, from, to].
type Segment [3]int64

// A Wait is [rank, cause, kind, begin, until].
type Wait struct {
	Rank, Cause  int
	Kind         string
	Begin, Until int64
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *Wait) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&w.Rank, &w.Cause, &w.Kind, &w.Begin, &w.Until})
}

// A Report is the compared part of report.json.
type Report struct {
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

// Ask runs oracle.py on a run's calls, the output of `cairn dump --json`. It also checks path, if
// there is one, for a run with times that are known to within tolerance nanoseconds.
func Ask(calls []byte, path []Segment, tolerance int64) (Answer, error) {
	command := exec.Command("python3", "-c", program)
	if path != nil {
		text, err := json.Marshal(map[string]any{"segments": path, "tolerance_ns": tolerance})
		if err != nil {
			return Answer{}, err
		}
		file, err := os.CreateTemp("", "path-*.json")
		if err != nil {
			return Answer{}, err
		}
		defer os.Remove(file.Name())
		defer file.Close()
		if _, err := file.Write(text); err != nil {
			return Answer{}, err
		}
		command.Args = append(command.Args, file.Name())
	}
	var a Answer
	var stderr bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(calls), &stderr
	out, err := command.Output()
	if err != nil {
		return Answer{}, fmt.Errorf("oracle.py: %w\n%s", err, &stderr)
	}
	return a, json.Unmarshal(out, &a)
}

// ReadReport reads the report.json of a folder.
func ReadReport(dir string) (Report, error) {
	var r Report
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// wrongOrder are the kinds that are late senders once more.
var wrongOrder = []string{"late sender, wrong order, same source", "late sender, wrong order, different sources"}

// inTrees are the kinds of waits in collectives that MPI carries out along a tree. The analyzer
// recognizes trees, and the rank that a rank in the middle waits for; oracle.py does not.
var inTrees = []string{"late broadcast", "early reduce", "early scan"}

// Differences compares the two for exact times: everything is equal to the nanosecond, except for
// rounding of float64, and for causes at the same time.
func Differences(o Answer, r Report) []string { return differences(o, r, nil) }

// DifferencesBesideTrees is Differences without the waits in collectives that use a tree, and
// therefore without the path.
func DifferencesBesideTrees(o Answer, r Report) []string { return differences(o, r, inTrees) }

func differences(o Answer, r Report, without []string) []string {
	const ns = 1e-9
	var differences []string
	near := func(want, got, tolerance float64, what string, args ...any) {
		if !(math.Abs(want-got) <= tolerance) {
			differences = append(differences, fmt.Sprintf("%s: %v, the report has %v", fmt.Sprintf(what, args...), want, got))
		}
	}
	near(float64(o.Run)*ns, r.RunSeconds, ns, "run")
	near(o.LoadBalance, r.Efficiency.LoadBalance, 1e-9, "load balance")
	near(o.Communication, r.Efficiency.Communication, 1e-9, "communication efficiency")
	near(o.Parallel, r.Efficiency.Parallel, 1e-9, "parallel efficiency")
	for _, rank := range r.Ranks {
		near(float64(o.Useful[rank.Rank])*ns, rank.Computation, ns, "computation of rank %d", rank.Rank)
	}

	tied := float64(o.Tied) * ns
	if o.Tied == 0 && without == nil {
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
		if !slices.Contains(wrongOrder, w.Kind) {
			found[w.Kind] = w.Seconds
		}
	}
	for _, w := range r.Waits.ByPair {
		foundPairs[pair{w.Rank, w.Cause, w.Kind}] = w.Seconds
	}
	tolerance := tied + float64(len(o.Waits)+1)*ns
	each(kinds, found, func(kind string, want, got float64) {
		if !slices.Contains(without, kind) {
			near(want, got, tolerance, "%s", kind)
		}
	})
	if r.Waits.PairsOmitted == 0 {
		each(pairs, foundPairs, func(p pair, want, got float64) {
			if slices.Contains(without, p.kind) {
				return
			}
			near(want, got, tolerance, "rank %d waiting for rank %d, %s", p.rank, p.cause, p.kind)
		})
	}
	return differences
}

// DifferencesWithin compares findings for rounded times with those for exact ones. The error of a
// time is at most bound nanoseconds, that of an interval at most twice that.
func DifferencesWithin(o Answer, r Report, bound int64) []string {
	interval := 2 * float64(bound) * 1e-9
	var differences []string
	near := func(want, got, tolerance float64, what string) {
		if !(math.Abs(want-got) <= tolerance+1e-9) {
			differences = append(differences, fmt.Sprintf("%s: %v, the report has %v, more than %v off", what, want, got, tolerance))
		}
	}
	near(float64(o.Run)*1e-9, r.RunSeconds, interval, "run")
	calls := 0
	for _, rank := range r.Ranks {
		// as many intervals as there are gaps between calls
		near(float64(o.Useful[rank.Rank])*1e-9, rank.Computation, interval*float64(rank.Calls), fmt.Sprintf("computation of rank %d", rank.Rank))
		calls += rank.Calls
	}
	// A wait is one interval. Its kind can depend on an order by less than the bound, so all kinds
	// are compared together.
	var waiting, found float64
	for _, w := range o.Waits {
		waiting += float64(w.Until-w.Begin) * 1e-9
	}
	for _, w := range r.WaitStates {
		if !slices.Contains(wrongOrder, w.Kind) {
			found += w.Seconds
		}
	}
	near(waiting, found, interval*float64(calls), "waiting of all ranks")
	return differences
}

func each[K comparable](a, b map[K]float64, visit func(k K, a, b float64)) {
	for k := range a {
		visit(k, a[k], b[k])
	}
	for k := range b {
		if _, both := a[k]; !both {
			visit(k, 0, b[k])
		}
	}
}
