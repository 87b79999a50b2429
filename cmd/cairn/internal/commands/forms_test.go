package commands_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/reexecution"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// A handle may be in the signature of a call, in a stream, in a column, a case of several, or a
// number (as earlier merges wrote some). Every command prints and writes the same of the same
// calls, whichever it is.
func TestEveryCommandReadsEveryFormOfHandles(t *testing.T) {
	for _, config := range []simulate.Config{
		{Pattern: "stencil2d", Ranks: 4, Iterations: 6, Cartesian: true, Imbalance: simulate.Imbalance{Noise: 20}},
		{Pattern: "irregular", Ranks: 4, Iterations: 6, Imbalance: simulate.Imbalance{Noise: 20}},
	} {
		t.Run(config.Pattern, func(t *testing.T) {
			sim, err := simulate.New(config)
			require.NoError(t, err)
			contents, err := sim.Contents()
			require.NoError(t, err)
			c, err := merger.Merge(contents, merger.Options{Final: true})
			require.NoError(t, err)
			want := outputs(t, c)
			for name, form := range map[string]func(w *rewriter, v trace.Value, kind string) trace.Value{
				"stream": (*rewriter).stream, "column": (*rewriter).column, "cases": (*rewriter).cases, "number": (*rewriter).number,
			} {
				t.Run(name, func(t *testing.T) {
					w := &rewriter{content: *c, form: form}
					w.rewrite()
					got := outputs(t, &w.content)
					for command, text := range want {
						require.Equal(t, text, got[command], command)
					}
				})
			}
		})
	}
}

// outputs are what commands print and write of a trace.
func outputs(t *testing.T, c *trace.Content) map[string]string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "trace.cairn")
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	of, sizes := map[string]string{}, regexp.MustCompile(`\d+ bytes, \S+ of the whole trace's|"(made_from|bytes)": ({\s*"Bytes": )?\d+|"trace_bytes": \d+`)
	for _, line := range []string{
		"dump FILE", "dump FILE --json", "analyze FILE -o OUT/report", "program FILE", "clusters FILE", "placement FILE",
		"graph FILE --from 0 --to 1", "skeleton FILE -o OUT/skeleton", "export FILE -o OUT/perfetto",
		"export FILE --format simgrid -o OUT/simgrid", "reduce FILE --histogram -o OUT/histogram.cairn", "info OUT/histogram.cairn --json",
		"redact FILE -o OUT/redacted.cairn", "dump OUT/redacted.cairn", "compare FILE FILE", "predict FILE --slow 0=2",
	} {
		arguments := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(line, "FILE", file), "OUT", dir))
		printed, err := cairntest.Run(t, arguments...)
		if err != nil {
			printed += err.Error()
		}
		of[line] = sizes.ReplaceAllString(strings.ReplaceAll(printed, dir, "DIR"), "")
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".cairn" {
			return err
		}
		raw, err := os.ReadFile(path)
		of[strings.TrimPrefix(path, dir)] = sizes.ReplaceAllString(strings.ReplaceAll(string(raw), dir, "DIR"), "")
		return err
	}))
	r, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	for i := range timeline.Locations(timeline.Of(r)) { // what replay executes
		var stream bytes.Buffer
		encoder := reexecution.NewEncoder(&stream, "scratch")
		require.NoError(t, reexecution.Each(t.Context(), timeline.Of(r), i, encoder.Call))
		of["replay"] += stream.String()
	}
	return of
}

// A rewriter writes all handles of a trace in another form.
type rewriter struct {
	content  trace.Content
	form     func(w *rewriter, v trace.Value, kind string) trace.Value
	terminal int32
	next     int32               // number of the next stream of the signature
	made     map[int32][][]int64 // values that each call takes from new streams, by signature
	first    map[int32]int32
	places   int
}

func (w *rewriter) rewrite() {
	c := &w.content
	w.made, w.first = map[int32][][]int64{}, map[int32]int32{}
	c.Signatures, c.Columns, c.Sequences = slices.Clone(c.Signatures), slices.Clone(c.Columns), slices.Clone(c.Sequences)
	for _, th := range c.Threads.All() {
		w.places = max(w.places, th.InShape+1)
	}
	for i := range c.Signatures {
		s := &c.Signatures[i]
		w.terminal, w.next = int32(i), 100 // beyond the streams that there are
		w.first[w.terminal] = w.next
		f := c.Functions[slices.IndexFunc(c.Functions, func(f trace.Function) bool { return f.ID == s.Function })]
		s.In, s.Out = slices.Clone(s.In), slices.Clone(s.Out)
		in, out := 0, 0
		for _, p := range f.Parameters {
			if p.Direction != trace.Out {
				s.In[in] = w.value(s.In[in], p.Kind)
				in++
			}
			if p.Direction != trace.In {
				s.Out[out] = w.value(s.Out[out], p.Kind)
				out++
			}
		}
	}
	threads := c.Threads.List()
	for i := range threads {
		th := &threads[i]
		th.Streams = slices.Clone(th.Streams)
		for _, o := range c.Grammar.Counts(th.Root) {
			for k, each := range w.made[o.Terminal] {
				ref := trace.StreamRef{Terminal: o.Terminal, Number: w.first[o.Terminal] + int32(k), Sequence: int32(len(c.Sequences))}
				th.Streams = append(th.Streams, ref)
				c.Sequences = append(c.Sequences, codec.Sequence{Values: slices.Repeat(each, int(o.Count))})
			}
		}
		slices.SortFunc(th.Streams, func(a, b trace.StreamRef) int {
			if a.Terminal != b.Terminal {
				return int(a.Terminal - b.Terminal)
			}
			return int(a.Number - b.Number)
		})
	}
	c.Threads = trace.NewThreadTable(threads...)
}

func (w *rewriter) value(v trace.Value, kind string) trace.Value {
	switch {
	case !trace.IsHandle(kind):
	case v.Form == trace.Handle:
		return w.form(w, v, kind)
	case v.Form == trace.List:
		v.List = slices.Clone(v.List)
		for i := range v.List {
			v.List[i] = w.value(v.List[i], kind)
		}
	}
	return v
}

func (w *rewriter) stream(v trace.Value, _ string) trace.Value {
	w.made[w.terminal] = append(w.made[w.terminal], []int64{v.Int})
	w.next++
	return trace.Value{Form: trace.Stream, Int: int64(w.next - 1)}
}

// column is the value in a column; the communicator of a call is never in one.
func (w *rewriter) column(v trace.Value, kind string) trace.Value {
	if kind == "comm" {
		return v
	}
	var column codec.Numbers
	for range w.places {
		column.Push(v.Int)
	}
	w.content.Columns = append(w.content.Columns, column)
	return trace.Value{Form: trace.Column, Int: int64(len(w.content.Columns) - 1)}
}

func (w *rewriter) cases(v trace.Value, kind string) trace.Value {
	if kind == "comm" {
		return v
	}
	of := w.column(trace.Value{Form: trace.Handle, Int: 1}, "")
	number := func(x int64) trace.Value { return trace.Value{Form: trace.Int, Int: x} }
	return trace.Value{Form: trace.Elastic, Int: int64(trace.Cases), List: []trace.Value{number(of.Int), number(-1), number(v.Int)}}
}

func (w *rewriter) number(v trace.Value, _ string) trace.Value {
	return trace.Value{Form: trace.Int, Int: v.Int}
}
