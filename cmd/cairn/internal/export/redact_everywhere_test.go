package export

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// secretWords are words in a trace that must not appear anywhere after redaction. Each is in one
// kind of text.
var secretWords = []string{
	"qhostq", "qotherhostq", "qpodq", "qnodeq", "qbootq", "qworldq", "qprocessorq", "qportq", // of hosts
	"qhomeq", "qsourceq", "qmoduleq", "qfileq", // of paths
	"qargumentq", "qinfoq", "qcommunicatorq", "qthreadq", "qenvironmentq", // of arguments
	// only in texts for people
	"qmissingpodq-0", "qendpointq.svc", "qbucketq", "qlostprocessq.4711", "10.11.12.13", "fd00:1::5e", "qrelativeq",
}

// secretTrace returns a trace with all of these words.
func secretTrace(t *testing.T) *trace.Content {
	t.Helper()
	type args = tracetest.Args
	b := tracetest.New(2)
	b.Meta().World = "qworldq"
	b.Ranks(func(i int, r *tracetest.Rank) {
		*r.Info() = trace.Rank{
			Rank: i, Host: "qhostq", Pod: "qpodq-" + fmt.Sprint(i), Node: "qnodeq", BootID: "qbootq", PID: 7 + i,
			Executable: "/home/qhomeq/bin/solver", Clock: timing.Clock{Kind: "monotonic"}, CommunicatorsOwn: []uint32{0},
			Threads: []trace.ThreadUsage{{TID: 1, Name: "qthreadq"}},
		}
		if i == 1 {
			r.Info().Host = "qotherhostq"
		}
		r.Init(0, 1).At("a.c:5")
		for k, call := range []struct {
			function string
			args     args
		}{
			{"MPI_Get_processor_name", args{"name": "qprocessorq"}},
			{"MPI_Open_port", args{"port_name": "tcp://qportq:4711"}},
			{"MPI_File_open", args{"filename": "/scratch/qfileq/data", "fh": tracetest.File(0)}},
			{"MPI_Comm_set_name", args{"comm_name": "qcommunicatorq"}},
			{"MPI_Info_set", args{"key": "qinfoq", "value": "PATH=/opt/qenvironmentq"}},
		} {
			at := 1 + float64(k)/10
			r.Call(call.function, at, at+0.05, call.args)
		}
		if i == 0 {
			r.Recv(2, 5, 1, 8)
		} else {
			r.Send(4, 5, 0)
		}
		r.Collective("MPI_Barrier", 6, 7)
	})
	b.Rank(0).Finalize(8, 9)
	b.Rank(1).Info().EndedEarly = `tracing stopped after MPI_Barrier: qhostq: write /var/spool/qhomeq/7.seg: no space left on device`
	b.Meta().Notes = []string{
		"qmissingpodq-0: process qlostprocessq.4711 cannot be used: open qrelativeq/process.json: no such file or directory",
		`Put "http://qendpointq.svc:9000/qbucketq/default/job/part-3": dial tcp 10.11.12.13:9000: connect: connection refused`,
		"dial tcp [fd00:1::5e]:9000: i/o timeout",
		"s3://qbucketq/default/qpodq-0 has 16 MiB of 3 processes of MPI_COMM_WORLD: only sums are left",
	}
	c := b.Content()
	for i := range c.Signatures {
		s := &c.Signatures[i]
		if s.Function == mpi.ByName("MPI_Init").ID {
			s.In[1] = trace.Value{Form: trace.List, List: []trace.Value{{Form: trace.Text, Text: "--qargumentq"}}}
		}
		for _, values := range [][]trace.Value{s.In, s.Out} {
			for k := range values {
				if strings.Contains(values[k].Text, "q") && values[k].Form == trace.Name {
					values[k].Form = trace.Text // tracetest writes names of constants
				}
			}
		}
	}
	for i := range c.Sites {
		c.Sites[i].File, c.Sites[i].Module = "/src/qsourceq/a.c", "/opt/qmoduleq/libsolver.so"
	}
	c.Communicators[0].Label = "qcommunicatorq"
	return c
}

// No byte of the output for a redacted trace has a redacted word, whether it is redacted as a file
// or during an export. Each word is in the output for the original trace; otherwise its absence
// would prove nothing.
func TestNothingSurvivesRedaction(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "trace.cairn")
	var written bytes.Buffer
	require.NoError(t, trace.Write(&written, secretTrace(t)))
	require.NoError(t, os.WriteFile(file, written.Bytes(), 0o666))
	// beside the clock.json of the trace, which analyze leaves
	shared := filepath.Join(dir, "shared.cairn")
	_, err := execute(t, "redact", file, "-o", shared)
	require.NoError(t, err)

	outputs := redactionOutputs()
	before := map[string]bool{}
	for name, output := range outputs {
		plain, redacted := output(t, file), output(t, shared)
		for _, word := range secretWords {
			before[word] = before[word] || strings.Contains(plain, word)
			assertNo(t, redacted, word, "of the redacted trace: "+name)
		}
		if strings.HasPrefix(name, "export") {
			redacted = output(t, file, "--redact")
			for _, word := range secretWords {
				assertNo(t, redacted, word, "with --redact: "+name)
			}
		}
		for _, stays := range []string{"MPI_Barrier", "a.c"} {
			if strings.HasPrefix(name, "export parquet") {
				assert.Contains(t, redacted, stays, name)
			}
		}
	}
	for _, word := range secretWords {
		assert.True(t, before[word], "%s is in nothing that is not redacted", word)
	}
}

func assertNo(t *testing.T, in, word, what string) {
	t.Helper()
	if i := strings.Index(in, word); i >= 0 {
		assert.Fail(t, "a word survives", "%s: %s", what, in[max(0, i-60):min(len(in), i+60)])
	}
}

// redactionOutputs are ways to print or write a trace. Each returns the complete output,
// uncompressed.
func redactionOutputs() map[string]func(t *testing.T, file string, more ...string) string {
	printed := func(arguments ...string) func(t *testing.T, file string, more ...string) string {
		return func(t *testing.T, file string, more ...string) string {
			said, err := execute(t, append(append(arguments, file), more...)...)
			require.NoError(t, err)
			return said
		}
	}
	exported := func(format, name string) func(t *testing.T, file string, more ...string) string {
		return func(t *testing.T, file string, more ...string) string {
			out := filepath.Join(t.TempDir(), name)
			said, err := execute(t, append([]string{"export", file, "--format", format, "-o", out}, more...)...)
			require.NoError(t, err)
			return said + filesOf(t, out)
		}
	}
	outputs := map[string]func(t *testing.T, file string, more ...string) string{
		"info": printed("info"), "info --json": printed("info", "--json"), "dump": printed("dump", "--call-sites"),
		"dump --json": printed("dump", "--json"), "the trace": func(t *testing.T, file string, _ ...string) string { return filesOf(t, file) },
		"export perfetto": exported("perfetto", "x.perfetto.gz"), "export parquet": exported("parquet", "tables"),
		"export simgrid": exported("simgrid", "simgrid"),
		"analyze": func(t *testing.T, file string, _ ...string) string {
			out := t.TempDir()
			said, err := execute(t, "analyze", file, "-o", out)
			require.NoError(t, err)
			clocks, err := os.ReadFile(filepath.Join(filepath.Dir(file), "clock.json"))
			require.NoError(t, err)
			return said + string(clocks) + filesOf(t, out)
		},
	}
	if otf2Exporter.elsewhere == nil { // this command has OTF2's library
		outputs["export otf2"] = exported("otf2", "archive")
	}
	return outputs
}

// filesOf returns the uncompressed content of a file, or of all files in a directory.
func filesOf(t *testing.T, path string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(path, func(name string, entry os.DirEntry, err error) error {
		require.NoError(t, err)
		if entry.IsDir() {
			return nil
		}
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		all.WriteString(strings.TrimPrefix(name, path))
		all.Write(content)
		all.WriteString(uncompressed(t, name, content))
		return nil
	}))
	return all.String()
}

func uncompressed(t *testing.T, name string, content []byte) string {
	t.Helper()
	var all strings.Builder
	switch filepath.Ext(name) {
	case ".gz":
		r, err := gzip.NewReader(bytes.NewReader(content))
		require.NoError(t, err)
		_, err = io.Copy(&all, r)
		require.NoError(t, err)
		fmt.Fprint(&all, r.Header)
	case ".parquet":
		f, err := pq.OpenFile(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		rows := pq.NewReader(f)
		for {
			row := map[string]any{}
			if err := rows.Read(&row); err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			fmt.Fprintln(&all, row)
		}
		fmt.Fprint(&all, f.Metadata().KeyValueMetadata)
	case ".cairn":
		r, err := trace.Open(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		c, err := r.Content()
		require.NoError(t, err)
		stringsIn(reflect.ValueOf(c), func(s string) { all.WriteString(s + "\n") })
	}
	return all.String()
}

// stringsIn finds all strings of a value, fields that are not exported among them.
func stringsIn(v reflect.Value, see func(string)) {
	switch v.Kind() {
	case reflect.String:
		see(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			stringsIn(v.Elem(), see)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			stringsIn(v.Field(i), see)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			stringsIn(v.Index(i), see)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			stringsIn(key, see)
			stringsIn(v.MapIndex(key), see)
		}
	default:
	}
}
