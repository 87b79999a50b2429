package redact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/export/perfetto"
	"github.com/cairn-mpi/cairn/analyzer/export/simgrid"
	"github.com/cairn-mpi/cairn/analyzer/redact"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// secrets makes random strings and remembers them by what they are.
type secrets struct {
	random *rand.Rand
	of     map[string][]string // by kind
}

func newSecrets(seed int64) *secrets {
	return &secrets{rand.New(rand.NewSource(seed)), map[string][]string{}}
}

func (s *secrets) make(kind string) string {
	b := make([]byte, 4+s.random.Intn(12))
	for i := range b {
		b[i] = "bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ0123456789"[s.random.Intn(50)]
	}
	b[0] = 'Q' // no number, and no beginning of a pseudonym
	s.of[kind] = append(s.of[kind], string(b))
	return string(b)
}

func (s *secrets) path(last string) string {
	path := ""
	for range 1 + s.random.Intn(4) {
		path += "/" + s.make("paths")
	}
	return path + "/" + last
}

// texts of calls, by function and parameter, with what redact takes them for.
func (s *secrets) arguments(r *tracetest.Rank, at float64) *tracetest.Rank {
	type args = tracetest.Args
	for i, call := range []struct {
		function string
		args     args
	}{
		{"MPI_Get_processor_name", args{"name": s.make("hosts")}},
		{"MPI_Get_library_version", args{"version": "Open MPI of " + s.make("hosts")}},
		{"MPI_Open_port", args{"port_name": s.make("hosts") + ":4711"}},
		{"MPI_Publish_name", args{"service_name": s.make("hosts"), "port_name": s.make("hosts")}},
		{"MPI_File_open", args{"filename": s.path(s.make("paths")), "fh": tracetest.File(0)}},
		{"MPI_File_delete", args{"filename": s.path(s.make("paths"))}},
		{"MPI_Comm_set_name", args{"comm_name": s.make("arguments")}},
		{"MPI_Info_set", args{"key": s.make("arguments"), "value": s.make("arguments")}},
		{"MPI_Add_error_string", args{"string": s.make("arguments")}},
	} {
		r.Call(call.function, at+float64(i)/100, at+float64(i)/100+0.005, call.args)
	}
	return r
}

// withTexts is the trace, with strings where tracetest writes names of constants.
func withTexts(b *tracetest.Builder) *trace.Content {
	c := b.Content()
	for i := range c.Signatures {
		s := &c.Signatures[i]
		for _, f := range c.Functions {
			in, out := 0, 0
			for _, p := range f.Parameters {
				if p.Direction != trace.Out {
					if f.ID == s.Function && p.Kind == "string" {
						s.In[in].Form = trace.Text
					}
					in++
				}
				if p.Direction != trace.In {
					if f.ID == s.Function && p.Kind == "string" {
						s.Out[out].Form = trace.Text
					}
					out++
				}
			}
		}
	}
	return c
}

// random is a trace with a secret in every string that a run may put there.
func random(seed int64) (*trace.Content, *secrets) {
	s := newSecrets(seed)
	ranks := 2 + s.random.Intn(4)
	b := tracetest.New(ranks)
	b.Meta().World = s.make("hosts")
	where := ""
	b.Ranks(func(i int, r *tracetest.Rank) {
		if i == 0 || s.random.Intn(2) == 0 {
			where = s.make("hosts")
		}
		*r.Info() = trace.Rank{
			Rank: i, Host: where, Pod: s.make("hosts"), Node: s.make("hosts"), BootID: "boot" + b.Meta().World, PID: 7 + i,
			Executable: s.path("solver"), Clock: timing.Clock{Kind: "monotonic"}, CommunicatorsOwn: []uint32{0},
			EndedEarly: fmt.Sprintf("tracing stopped after MPI_Send: %s: cannot write %s", where, s.path("spool")),
			Threads:    []trace.ThreadUsage{{TID: 1, Name: s.make("arguments")}, {TID: 2, Name: "cairn", Tool: true}},
		}
		r.Init(0, 1)
		s.arguments(r, 1)
		r.At("a.c:5").Call("MPI_Send", 3, 4+float64(i)/10, tracetest.Args{"dest": (i + 1) % ranks})
		r.Recv(4.5, 5, (i+ranks-1)%ranks, 8)
		r.Collective("MPI_Barrier", 6, 7+float64(i)/100)
		r.Finalize(8, 9)
	})
	b.Meta().Notes = []string{fmt.Sprintf("pod %s ran without %s", where, s.path("libcairn.so"))}
	c := withTexts(b)
	argv := trace.Value{Form: trace.List, List: []trace.Value{{Form: trace.Text, Text: s.path(s.make("arguments"))}, {Form: trace.Text, Text: "--" + s.make("arguments")}}}
	for i := range c.Signatures {
		if c.Signatures[i].Function == mpi.ByName("MPI_Init").ID {
			c.Signatures[i].In[1] = argv
		}
	}
	for i := range c.Sites {
		c.Sites[i].File, c.Sites[i].Module = s.path("a.c"), s.path("libsolver.so")
		c.Sites[i].BuildID = s.path("libsolver.so")
	}
	c.Communicators[0].Label = s.make("arguments")
	return c, s
}

// allStrings returns those of a value and of everything in it, by reflection, independent of
// package redact.
func allStrings(v reflect.Value, see func(string)) {
	switch v.Kind() {
	case reflect.String:
		see(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			allStrings(v.Elem(), see)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			allStrings(v.Field(i), see)
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k == reflect.Uint8 {
			see(string(bytesOf(v)))
			return
		}
		for i := range v.Len() {
			allStrings(v.Index(i), see)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			allStrings(key, see)
			allStrings(v.MapIndex(key), see)
		}
	default:
	}
}

func bytesOf(v reflect.Value) []byte {
	b := make([]byte, v.Len())
	for i := range b {
		b[i] = byte(v.Index(i).Uint())
	}
	return b
}

// everything returns all that can be read of a trace: its content, exports and dumps.
func everything(t *testing.T, c *trace.Content) string {
	t.Helper()
	var all strings.Builder
	r := tracetest.Open(t, c)
	content, err := r.Content()
	require.NoError(t, err)
	allStrings(reflect.ValueOf(content), func(s string) { all.WriteString(s + "\n") })
	for _, th := range content.Threads.All() {
		cursor, err := r.Cursor(th.Rank, th.Thread)
		require.NoError(t, err)
		for cursor.Next() {
			all.Write(cursor.Event().AppendJSON(nil))
		}
		require.NoError(t, cursor.Err())
	}
	tr := timeline.Of(r)
	var out bytes.Buffer
	_, err = perfetto.Write(context.Background(), &out, tr, perfetto.Options{})
	require.NoError(t, err)
	all.Write(out.Bytes())
	dir := t.TempDir()
	_, err = simgrid.Write(context.Background(), dir, tr, simgrid.Options{})
	require.NoError(t, err)
	files, err := filepath.Glob(dir + "/*")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}

func TestNoSecretIsLeft(t *testing.T) {
	kinds := []string{"paths", "hosts", "arguments"}
	for seed := range int64(16) {
		chosen := kinds
		if seed%2 > 0 {
			chosen = kinds[seed/2%3:][:1]
		}
		what, err := redact.Parse(chosen)
		require.NoError(t, err)
		c, s := random(seed)
		before := everything(t, c)
		redact.Content(c, what)
		after := everything(t, c)
		for kind, list := range s.of {
			for _, secret := range list {
				assert.True(t, strings.Contains(before, secret), "seed %d, %s: a secret that is nowhere proves nothing", seed, kind)
				if strings.Contains(strings.Join(chosen, " "), kind) {
					at := strings.Index(after, secret)
					assert.Negative(t, at, "seed %d, %s: %s is left: %s", seed, kind, secret, around(after, at))
				}
			}
		}
		for _, stays := range []string{"solver", "a.c", "MPI_Send", "cairn"} {
			assert.Contains(t, after, stays)
		}
	}
}

func around(s string, at int) string {
	if at < 0 {
		return ""
	}
	return s[max(0, at-60):min(len(s), at+60)]
}

// Paths alone leave hosts and arguments as they are, and so on.
func TestOnlyWhatWasAskedFor(t *testing.T) {
	c, s := random(1)
	redact.Content(c, redact.What{Hosts: true})
	after := everything(t, c)
	for _, kind := range []string{"paths", "arguments"} {
		for _, secret := range s.of[kind] {
			assert.Contains(t, after, secret)
		}
	}
}

// The findings of an analysis are the same except for texts, and what differed still differs.
func TestAnalysisSaysTheSame(t *testing.T) {
	for seed := range int64(4) {
		find := func(c *trace.Content) any {
			f := analyzertest.Analyze(t, timeline.Of(tracetest.Open(t, c)))
			text, err := json.Marshal(f)
			require.NoError(t, err)
			var all any
			require.NoError(t, json.Unmarshal(text, &all))
			return withoutTexts(all)
		}
		c, _ := random(seed)
		want, distinct := find(c), distinctHosts(c)
		redact.Content(c, redact.All)
		assert.Equal(t, want, find(c), "seed %d", seed)
		assert.Equal(t, distinct, distinctHosts(c), "seed %d", seed)
	}
}

func withoutTexts(v any) any {
	switch v := v.(type) {
	case string:
		return ""
	case []any:
		for i := range v {
			v[i] = withoutTexts(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = withoutTexts(v[k])
		}
	}
	return v
}

// distinctHosts says of each rank which is the first that has its host.
func distinctHosts(c *trace.Content) (first []int) {
	seen := map[string]int{}
	for i, r := range c.Ranks.All() {
		if _, known := seen[r.Host]; !known {
			seen[r.Host] = i
		}
		first = append(first, seen[r.Host])
	}
	return first
}

func TestNames(t *testing.T) {
	b := tracetest.New(3)
	for i, host := range []string{"alpha", "beta", "alpha"} {
		r := b.Rank(i)
		r.Info().Host, r.Info().Executable = host, "/home/me/bin/solver"
		r.Init(0, 1).At("solve.c:7").Call("MPI_Get_processor_name", 1, 2, tracetest.Args{"name": host}).Finalize(2, 3)
	}
	b.Rank(1).Info().Host = "host-1" // what was a pseudonym if it were not there
	b.Meta().Notes = []string{"on alpha, /home/me/bin/solver read /scratch/me/in; a/b and I/O stay"}
	c := withTexts(b)
	redact.Content(c, redact.All)
	ranks := c.Ranks.List()
	assert.Equal(t, []string{"host-2", "host-3", "host-2"}, []string{ranks[0].Host, ranks[1].Host, ranks[2].Host})
	assert.Equal(t, "dir-1/solver", ranks[0].Executable)
	assert.Equal(t, "dir-2/solve.c", c.Sites[0].File)
	assert.Equal(t, []string{"on host-2, dir-1/solver read dir-3/in; a/b and I/O stay"}, c.Meta.Notes)
	var names []string
	for _, s := range c.Signatures {
		for _, v := range s.Out {
			if v.Form == trace.Text {
				names = append(names, v.Text)
			}
		}
	}
	assert.Equal(t, []string{"host-2", "host-4"}, names, "a processor has the name of its host")
}

func TestParse(t *testing.T) {
	_, err := redact.Parse([]string{"hosts", "names"})
	assert.ErrorContains(t, err, `"names": paths, hosts and arguments can be redacted`)
}

// Traces that were recorded: what ranks, call sites and calls had is no string of theirs any more.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("../../trace/testdata/*.v[35].cairn")
	require.NoError(t, err)
	seen := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		r, err := trace.Open(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		c, err := r.Content()
		if errors.Is(err, trace.ErrLeads) {
			continue
		}
		require.NoError(t, err)
		var whole, within []string
		for _, rank := range c.Ranks.All() {
			whole = append(whole, rank.Host, rank.Pod, rank.Node, rank.BootID)
			within = append(within, filepath.Dir(rank.Executable))
		}
		for _, s := range c.Sites {
			within = append(within, filepath.Dir(s.File))
		}
		for _, s := range c.Signatures {
			for _, values := range [][]trace.Value{s.In, s.Out} {
				whole = append(whole, textsOf(values)...)
			}
		}
		redact.Content(c, redact.All)
		left := map[string]bool{}
		allStrings(reflect.ValueOf(c), func(s string) { left[s] = true })
		for _, s := range whole {
			assert.False(t, len(s) >= 4 && left[s], "%s: %s is left", file, s)
		}
		for _, s := range within {
			for is := range left {
				assert.False(t, len(s) >= 4 && strings.Contains(is, s), "%s: %s is left in %s", file, s, is)
			}
		}
		seen += len(whole)
		var out bytes.Buffer
		require.NoError(t, trace.Write(&out, c), file)
	}
	assert.Greater(t, seen, 20)
}

func textsOf(values []trace.Value) (texts []string) {
	for _, v := range values {
		if v.Form == trace.Text {
			texts = append(texts, v.Text)
		}
		texts = append(texts, textsOf(v.List)...)
	}
	return texts
}
