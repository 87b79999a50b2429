package program_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// An execution executes the JSON of a program for one thread: a second, simple reader of the form,
// which shares only the names of fields with the writer.
type execution struct {
	t            *testing.T
	rank, thread int
	found        *program.Findings
	parts        map[int][]program.Node
	numberings   []map[int]int64
	streams      map[int][]program.Term
	met, made    map[*program.Node]int
	calls        []string
}

// executed are the calls of a thread as the JSON has them, each with its arguments.
func executed(t *testing.T, document []byte, rank, thread int) []string {
	t.Helper()
	var found program.Findings
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&found))
	e := execution{t: t, rank: rank, thread: thread, found: &found, parts: map[int][]program.Node{},
		streams: map[int][]program.Term{}, met: map[*program.Node]int{}, made: map[*program.Node]int{}}
	for _, p := range found.Parts {
		if p.Thread == thread {
			e.parts[p.Part] = p.Body
		}
	}
	for _, n := range found.Numberings {
		e.numberings = append(e.numberings, tabled(&n.Table))
	}
	for _, s := range found.Streams {
		if s.Thread == thread && has(s.Ranks, rank) {
			for _, turn := range s.Turns {
				for k := range turn.Times {
					require.Len(t, turn.Terms, 1)
					e.streams[s.Stream] = append(e.streams[s.Stream], stepped(turn.Terms[0], k))
				}
			}
		}
	}
	for _, one := range found.Threads {
		if one.Thread == thread {
			e.run(one.Body)
		}
	}
	return e.calls
}

// has reports whether a list like "0-62 step 2, 63" has a rank; the empty list is all.
func has(list string, rank int) bool {
	if list == "" {
		return true
	}
	for _, r := range listed(list) {
		if r == rank {
			return true
		}
	}
	return false
}

func listed(list string) []int {
	var ranks []int
	for _, run := range strings.Split(list, ", ") {
		first, last, step := 0, 0, 1
		switch {
		case strings.Contains(run, " step "):
			_, _ = fmt.Sscanf(run, "%d-%d step %d", &first, &last, &step)
		case strings.Contains(run, "-"):
			_, _ = fmt.Sscanf(run, "%d-%d", &first, &last)
		default:
			_, _ = fmt.Sscanf(run, "%d", &first)
			last = first
		}
		for r := first; r <= last; r += step {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

func tabled(table *program.Table) map[int]int64 {
	var values []int64
	for _, p := range table.Values {
		for k := range p.Count {
			values = append(values, p.First+int64(k)*p.Step)
		}
	}
	of := map[int]int64{}
	for i, rank := range listed(table.Ranks) {
		of[rank] = values[i]
	}
	return of
}

// stepped is the term of a turn's k-th time.
func stepped(term program.Term, k int) program.Term {
	if term.Number != nil {
		x := *term.Number + int64(k)*term.Step
		term.Number = &x
	}
	return term
}

func (e *execution) run(nodes []program.Node) {
	for i := range nodes {
		n := &nodes[i]
		if !has(n.Ranks, e.rank) {
			continue
		}
		require.Zero(e.t, n.Omitted)
		times := e.trips(n)
		e.met[n]++
		for range times {
			switch {
			case n.Function != "":
				e.call(n)
				e.made[n]++
			case n.Part > 0:
				e.run(e.parts[n.Part])
			default:
				e.run(n.Body)
			}
		}
	}
}

func (e *execution) trips(n *program.Node) uint64 {
	if len(n.Trips) == 0 {
		return 1
	}
	for i := range n.Trips {
		t := &n.Trips[i]
		if !has(t.Ranks, e.rank) {
			continue
		}
		require.Zero(e.t, t.Omitted)
		if t.Count != nil {
			return uint64(e.number(t.Count))
		}
		return t.Cycle[e.met[n]%len(t.Cycle)]
	}
	require.Fail(e.t, "no trip count", "rank %d", e.rank)
	return 0
}

func (e *execution) number(term *program.Term) int64 {
	switch {
	case term.Function != nil:
		return e.function(term.Function)
	case term.ByRank != nil:
		x, there := tabled(term.ByRank)[e.rank]
		require.True(e.t, there)
		return x
	}
	return *term.Number
}

func (e *execution) call(n *program.Node) {
	words := []string{n.Function, n.CallSite}
	for _, p := range n.Parameters {
		for _, exact := range p.Exact {
			if !has(exact.Ranks, e.rank) {
				continue
			}
			if word := e.word(e.term(&exact, e.made[n])); word != "" {
				words = append(words, p.Name+"="+word)
			}
		}
	}
	e.calls = append(e.calls, strings.Join(words, " "))
}

// term is what an argument is when the call is made for the k-th time.
func (e *execution) term(exact *program.Exact, k int) program.Term {
	length := 0
	for _, turn := range exact.Cycle {
		length += turn.Times
	}
	k %= length
	for _, turn := range exact.Cycle {
		if k >= turn.Times {
			k -= turn.Times
			continue
		}
		for _, term := range turn.Terms {
			if has(term.Ranks, e.rank) {
				return stepped(term, k)
			}
		}
	}
	require.Fail(e.t, "no term", "rank %d", e.rank)
	return program.Term{}
}

func (e *execution) word(term program.Term) string {
	switch {
	case term.Stream != nil:
		rest := e.streams[*term.Stream]
		require.NotEmpty(e.t, rest, "stream %d of rank %d", *term.Stream, e.rank)
		e.streams[*term.Stream] = rest[1:]
		return e.word(rest[0])
	case term.Text != nil:
		return *term.Text
	case term.Float != nil:
		return fmt.Sprint(*term.Float)
	case term.Null:
		return "null"
	case term.List != nil:
		words := make([]string, len(term.List))
		for i, x := range term.List {
			words[i] = e.word(x)
		}
		return "[" + strings.Join(words, " ") + "]"
	case term.Number == nil && term.Function == nil && term.ByRank == nil:
		return ""
	}
	return fmt.Sprint(e.number(&term))
}

// function follows the formulas in the documentation of FunctionKind.
func (e *execution) function(f *program.Function) int64 {
	r := int64(e.rank)
	if f.Numbering > 0 {
		var there bool
		r, there = e.numberings[f.Numbering-1][e.rank]
		require.True(e.t, there, "rank %d is not numbered", e.rank)
	}
	mod := func(x, n int64) int64 { return (x%n + n) % n }
	step := r / max(f.C, 1)
	if f.D > 0 {
		step %= f.D
	}
	switch f.Kind {
	case program.Linear:
		return f.A + f.B*step
	case program.Modulo:
		return mod(f.A+f.B*r, f.D)
	case program.XOR:
		return r ^ f.A
	case program.ByValue:
		return f.Values[step]
	case program.Transposed:
		pair, inPair := r/f.D, r%f.D
		return (pair%f.C*f.C+pair/f.C)*f.D + inPair
	case program.Grid:
		to, size := int64(0), int64(1)
		for i := len(f.Extents) - 1; i >= 0; i-- {
			to += mod(r%f.Extents[i]+f.Shift[i], f.Extents[i]) * size
			r, size = r/f.Extents[i], size*f.Extents[i]
		}
		return to
	}
	require.Fail(e.t, "unknown function", f.Kind)
	return 0
}

// recorded are the calls of a thread as the trace has them.
func recorded(t *testing.T, tr timeline.Trace, rank, thread int) []string {
	t.Helper()
	cursor, err := tr.Calls(rank, thread)
	require.NoError(t, err)
	var calls []string
	for cursor.Next() {
		e := cursor.Event()
		site := ""
		if e.Site != nil {
			site = callsite.Name(e.Site)
		}
		words := []string{e.Function.Name, site}
		k := 0
		for i := range e.Function.Parameters {
			p := &e.Function.Parameters[i]
			if p.Direction == trace.Out {
				continue
			}
			if word := valueWord(tr, &e.In[k], p.Kind); word != "" && p.Kind != "status" {
				words = append(words, p.Name+"="+word)
			}
			k++
		}
		calls = append(calls, strings.Join(words, " "))
	}
	require.NoError(t, cursor.Err())
	return calls
}

func valueWord(tr timeline.Trace, v *trace.Value, kind string) string {
	switch v.Form {
	case trace.Absent, trace.Pointer:
		return ""
	case trace.Null:
		return "null"
	case trace.Float:
		return fmt.Sprint(math.Float64frombits(uint64(v.Int)))
	case trace.Text, trace.Name:
		return v.Text
	case trace.Code:
		if sites := tr.Sites(); v.Int > 0 && v.Int <= int64(len(sites)) && sites[v.Int-1].Function != "" {
			return sites[v.Int-1].Function
		}
		return "a function"
	case trace.List:
		words := make([]string, len(v.List))
		for i := range v.List {
			words[i] = valueWord(tr, &v.List[i], kind)
		}
		return "[" + strings.Join(words, " ") + "]"
	case trace.Handle:
		return fmt.Sprintf("%s#%d", kind, v.Int)
	}
	switch kind { // numbers of what is no number to the program
	case "comm", "datatype", "op", "group", "win", "file", "info", "request", "message", "errhandler", "session":
		return fmt.Sprintf("%s#%d", kind, v.Int)
	}
	return fmt.Sprint(v.Int)
}

// requireNothingElided compares the JSON of a trace's program with each call of the trace.
func requireNothingElided(t *testing.T, r *trace.Reader, o program.Options) *program.Findings {
	t.Helper()
	o.Exact = true
	found, err := program.Analyze(t.Context(), timeline.Of(r), o)
	require.NoError(t, err)
	document, err := json.Marshal(found)
	require.NoError(t, err)
	for _, thread := range r.Threads().All() {
		require.Equal(t, recorded(t, timeline.Of(r), thread.Rank, thread.Thread), executed(t, document, thread.Rank, thread.Thread),
			"rank %d, thread %d", thread.Rank, thread.Thread)
	}
	return &found
}

// TestNothingIsElidedOfPatterns: the JSON has every argument of every call of simulated programs.
func TestNothingIsElidedOfPatterns(t *testing.T) {
	for _, pattern := range simulate.Patterns {
		t.Run(pattern.Name, func(t *testing.T) {
			for _, ranks := range []int{4, 16} {
				content := tracetest.Simulated(t, simulate.Config{Pattern: pattern.Name, Ranks: ranks, Iterations: 6, Bytes: 512, CallSites: "caller"})
				requireNothingElided(t, tracetest.Open(t, content), program.Options{})
			}
		})
	}
}

// TestNothingIsElidedOfRandomPrograms: nor of programs of chance, with communicators of their own,
// tests and wildcards.
func TestNothingIsElidedOfRandomPrograms(t *testing.T) {
	for seed := range int64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			content := tracetest.Random(t, seed, 3+int(seed)%5, 60, 10*time.Microsecond)
			requireNothingElided(t, tracetest.Open(t, content), program.Options{})
		})
	}
}

// TestNothingIsElidedOfRecordedTraces: nor of the traces beside the description of the format.
func TestNothingIsElidedOfRecordedTraces(t *testing.T) {
	files, err := filepath.Glob("../../trace/testdata/*.v[35].cairn")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			r, err := trace.Open(bytes.NewReader(content), int64(len(content)))
			require.NoError(t, err)
			requireNothingElided(t, r, program.Options{})
		})
	}
}

// TestOracleNotices: it does not take one program for another.
func TestOracleNotices(t *testing.T) {
	content := tracetest.Simulated(t, simulate.Config{Pattern: "ring", Ranks: 4, Iterations: 6, CallSites: "caller"})
	r := tracetest.Open(t, content)
	found, err := program.Analyze(t.Context(), timeline.Of(r), program.Options{Exact: true})
	require.NoError(t, err)
	document, err := json.Marshal(found)
	require.NoError(t, err)
	want := recorded(t, timeline.Of(r), 2, 0)
	require.Equal(t, want, executed(t, document, 2, 0))
	for _, change := range [][2]string{{`"a":1,`, `"a":2,`}, {`"number":1024`, `"number":1000`}, {`"cycle":[6]`, `"cycle":[7]`}} {
		require.Contains(t, string(document), change[0])
		assert.NotEqual(t, want, executed(t, []byte(strings.ReplaceAll(string(document), change[0], change[1])), 2, 0), change[0])
	}
}
