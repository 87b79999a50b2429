package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// events is a cursor over a list.
type events struct {
	list []trace.Event
	at   int
}

func (e *events) Next() bool          { e.at++; return e.at <= len(e.list) }
func (e *events) Event() *trace.Event { return &e.list[e.at-1] }
func (e *events) Err() error          { return nil }

func name(s string) trace.Value   { return trace.Value{Form: trace.Name, Text: s} }
func handle(id int64) trace.Value { return trace.Value{Form: trace.Handle, Int: id} }
func integer(n int64) trace.Value { return trace.Value{Form: trace.Int, Int: n} }
func of(v ...trace.Value) trace.Value {
	return trace.Value{Form: trace.List, List: v}
}
func statusOf(n ...int64) trace.Value {
	v := trace.Value{Form: trace.Status}
	for _, x := range n {
		v.List = append(v.List, integer(x))
	}
	return v
}

var pointer, absent = trace.Value{Form: trace.Pointer}, trace.Value{}

func event(function string, in, out []trace.Value) trace.Event {
	f := &trace.Function{ID: mpi.ByName(function).ID, Name: function}
	return trace.Event{Function: f, In: in, Out: out, Return: integer(0), OwnRank: 0, Comm: -1}
}

// story is a program with a communicator and two requests, one of which shares its
// handle with a third.
func story() []trace.Event {
	world, number := name("MPI_COMM_WORLD"), name("MPI_INT")
	list := []trace.Event{
		event("MPI_Comm_dup", []trace.Value{world}, []trace.Value{handle(0)}),
		event("MPI_Irecv", []trace.Value{integer(1), number, name("MPI_ANY_SOURCE"), integer(5), handle(0)}, []trace.Value{pointer, handle(0)}),
		event("MPI_Isend", []trace.Value{pointer, integer(1), number, integer(1), integer(5), handle(0)}, []trace.Value{handle(1)}),
		event("MPI_Isend", []trace.Value{pointer, integer(1), number, integer(1), integer(6), handle(0)}, []trace.Value{handle(2)}),
		event("MPI_Waitall", []trace.Value{integer(3), of(handle(0), handle(1), handle(2))},
			[]trace.Value{absent, of(statusOf(1, 5, 0, 0, 4), statusOf(0, 0, 0, 0, 0), statusOf(0, 0, 0, 0, 0))}),
		event("MPI_Comm_free", []trace.Value{handle(0)}, []trace.Value{name("MPI_COMM_NULL")}),
		event("MPI_Comm_dup", []trace.Value{world}, []trace.Value{handle(0)}),
		event("MPI_Get_processor_name", nil, []trace.Value{{Form: trace.Text, Text: "a node"}, integer(6)}),
	}
	for i := range list {
		list[i].Index = uint64(i)
		list[i].Signature = &trace.Signature{StatusIgnored: list[i].Function.Name == "MPI_Waitall"}
	}
	return list
}

const storyLog = `C 0 0 MPI_Comm_dup comm=100
R 0 1 0 newcomm=200
C 1 2 MPI_Irecv count=1 datatype=300 source=-2 tag=5 comm=200
R 1 3 0 buf=4000 request=501
C 2 4 MPI_Isend buf=4004 count=1 datatype=300 dest=1 tag=5 comm=200
R 2 5 0 request=500
C 3 6 MPI_Isend buf=4004 count=1 datatype=300 dest=1 tag=6 comm=200
R 3 7 0 request=500
C 4 8 MPI_Waitall count=3 array_of_requests=[501,500,500]
R 4 9 0 array_of_requests=[-1,-1,-1] array_of_statuses=~[{1,5,0,0,4},{0,0,0,0,0},{0,0,0,0,0}]
C 5 10 MPI_Comm_free comm=200
R 5 11 0 comm=0
C 6 12 MPI_Comm_dup comm=100
R 6 13 0 newcomm=201
C 7 14 MPI_Get_processor_name
R 7 15 0 name="a%20node" resultlen=6
C 8 16 MPI_Barrier comm=201
`

const storyProcess = `{"hostname":"n","pid":1,"constants":[
{"kind":"comm","name":"MPI_COMM_WORLD","value":100},{"kind":"comm","name":"MPI_COMM_NULL","value":0},
{"kind":"datatype","name":"MPI_INT","value":300},{"kind":"rank","name":"MPI_ANY_SOURCE","value":-2},
{"kind":"request","name":"MPI_REQUEST_NULL","value":-1},{"kind":"buffer","name":"MPI_BOTTOM","value":0}]}`

func compareStory(t *testing.T, log string) Result {
	t.Helper()
	return compareEvents(t, log, false, story())
}

func compareEvents(t *testing.T, log string, ended bool, list []trace.Event) Result {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "process.json"), []byte(storyProcess), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "reference"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "reference", "0.log"), []byte(log), 0o644))
	p, err := readProcess(dir)
	require.NoError(t, err)
	calls, err := readLog(dir)
	require.NoError(t, err)
	var result Result
	m := newMatch(0, p, nil)
	m.ended = ended
	require.NoError(t, compareRank(&result, m, map[int]cursor{0: &events{list: list}}, calls))
	return result
}

func TestStoryAgrees(t *testing.T) {
	result := compareStory(t, storyLog)
	require.Empty(t, result.Disagreements)
	require.Equal(t, uint64(8), result.Calls)
	require.Equal(t, uint64(1), result.Unfinished)
}

// A process that ended in MPI_Wait changed no request, and one that was killed may lack the last
// call of a thread in the log, but no more.
func TestStoryOfAProcessThatEnded(t *testing.T) {
	wait := event("MPI_Wait", []trace.Value{handle(0)}, nil)
	wait.Index, wait.Signature = 9, &trace.Signature{}
	unfinished := wait
	unfinished.Return, unfinished.Out = absent, nil
	const irecv = "C 8 16 MPI_Irecv count=1 datatype=300 source=-2 tag=5 comm=201\nR 8 17 0 buf=4000 request=501\n"
	posted := event("MPI_Irecv", []trace.Value{integer(1), name("MPI_INT"), name("MPI_ANY_SOURCE"), integer(5), handle(0)}, []trace.Value{pointer, handle(0)})
	posted.Index, posted.Signature = 8, &trace.Signature{}
	log := strings.Replace(storyLog, "C 8 16 MPI_Barrier comm=201\n", irecv, 1)
	for name, c := range map[string]struct {
		log   string
		wait  trace.Event
		ended bool
		want  string
	}{
		"unfinished":     {log + "C 9 18 MPI_Wait request=501\n", unfinished, true, ""},
		"last lost":      {log, wait, true, ""},
		"not killed":     {log, wait, false, "call 9, MPI_Wait: the log ends before this call"},
		"two calls":      {strings.Replace(log, irecv, "", 1), wait, true, "call 8, MPI_Irecv: the log ends before this call"},
		"another wait":   {log + "C 9 18 MPI_Wait request=502\n", unfinished, true, "call 9, MPI_Wait, request"},
		"became another": {log + "C 9 18 MPI_Wait request=501\nR 9 19 0 request=502 status=~{1,5,0,0,4}\n", wait, true, "a request became another one"},
	} {
		t.Run(name, func(t *testing.T) {
			result := compareEvents(t, c.log, c.ended, append(story(), posted, c.wait))
			if c.want == "" {
				require.Empty(t, result.Disagreements)
				return
			}
			require.NotEmpty(t, result.Disagreements)
			require.Contains(t, result.Disagreements[0].String()+result.Disagreements[len(result.Disagreements)-1].String(), c.want)
		})
	}
}

// A process may end while it writes a line of its log.
func TestStoryThatBreaksOff(t *testing.T) {
	posted := event("MPI_Irecv", []trace.Value{integer(1), name("MPI_INT"), name("MPI_ANY_SOURCE"), integer(5), handle(0)}, []trace.Value{pointer, handle(0)})
	posted.Index, posted.Signature = 8, &trace.Signature{}
	before, _, _ := strings.Cut(storyLog, "C 8 16")
	log := before + "C 8 16 MPI_Irecv count=1 datatype=300 source=-2 tag=5 comm=201\nR 8 17 0 buf=4000 request=501\n"
	for length := len(before); length <= len(log); length++ {
		result := compareEvents(t, log[:length], true, append(story(), posted))
		require.Empty(t, result.Disagreements, "%q", log[len(before):length])
	}
}

// Every change of the log is found, in the right argument.
func TestStoryDisagrees(t *testing.T) {
	for _, c := range []struct{ old, new, where string }{
		{"tag=5", "tag=4", "call 1, MPI_Irecv, tag: 5 in the trace, 4 in the reference log"},
		{"source=-2", "source=1", "call 1, MPI_Irecv, source: MPI_ANY_SOURCE in the trace, 1"},
		{"datatype=300", "datatype=301", "call 1, MPI_Irecv, datatype: MPI_INT in the trace, 301"},
		{"tag=6 comm=200", "tag=6 comm=201", "call 3, MPI_Isend, comm: handle 0 in the trace, 201 in the reference log: id 0 is bound to handle 200"},
		{"[501,500,500]", "[500,501,500]", "call 4, MPI_Waitall, array_of_requests"},
		{"[501,500,500]", "[501,500]", "call 4, MPI_Waitall, array_of_requests"},
		{"[-1,-1,-1]", "[-1,7,-1]", "call 4, MPI_Waitall, array_of_requests: handle 1 in the trace, 7 in the reference log: a request became another one"},
		{"{1,5,0,0,4}", "{1,5,0,0,8}", "call 4, MPI_Waitall, array_of_statuses"},
		{"{1,5,0,0,4}", "{1,5,0,1,4}", "call 4, MPI_Waitall, array_of_statuses"},
		{"array_of_statuses=~[", "array_of_statuses=[", "call 4, MPI_Waitall, array_of_statuses: [[1 5 0 0 4] [0 0 0 0 0] [0 0 0 0 0]] in the trace, [{1,5,0,0,4},{0,0,0,0,0},{0,0,0,0,0}] in the reference log: ignored by the program in the trace: true"},
		{"R 5 11 0 comm=0", "R 5 11 0 comm=200", "call 5, MPI_Comm_free, comm"},
		{"newcomm=201", "newcomm=100", "call 6, MPI_Comm_dup, newcomm: handle 0 in the trace, 100 in the reference log: a predefined handle"},
		{"a%20node", "a%20mode", "call 7, MPI_Get_processor_name, name"},
		{"resultlen=6", "resultlen=-", "call 7, MPI_Get_processor_name, resultlen"},
		{"buf=4004", "buf=0", "call 2, MPI_Isend, buf: a pointer in the trace, 0"},
		{"R 2 5 0", "R 2 5 3", "call 2, MPI_Isend, result: 0 in the trace, 3"},
		{"MPI_Comm_free", "MPI_Comm_disconnect", "call 5, MPI_Comm_free: MPI_Comm_free in the trace, MPI_Comm_disconnect"},
		{"C 8 16 MPI_Barrier comm=201\n", "C 8 16 MPI_Barrier comm=201\nR 8 17 0\n", "call 8, MPI_Barrier: the trace ends before this call"},
		{"C 7 14 MPI_Get_processor_name\nR 7 15 0 name=\"a%20node\" resultlen=6\nC 8 16 MPI_Barrier comm=201\n", "", "call 7, MPI_Get_processor_name: the log ends before this call"},
	} {
		require.Contains(t, storyLog, c.old)
		result := compareStory(t, strings.Replace(storyLog, c.old, c.new, 1))
		require.NotEmpty(t, result.Disagreements, "%s -> %s", c.old, c.new)
		require.Contains(t, result.Disagreements[0].String(), c.where)
		require.False(t, result.OK())
	}
}

// A damaged log is an error, not a disagreement.
func TestDamagedLog(t *testing.T) {
	for _, text := range []string{"x", "C 1 0 MPI_Barrier", "R 0 0 0", "C 0 a MPI_Barrier", "C 0 0 MPI_Barrier\nR 0 1 0\nR 0 2 0\n"} {
		_, err := addLines(text)
		require.Error(t, err, text)
	}
	for _, text := range []string{"a", "a=", "a=[1", "a=[1,,2]", "a={1;2}", `a="x`, `a="%Z0"`, "a=1x", "a=@x", "a=[[[[[[[[[[[[1]]]]]]]]]]]]"} {
		_, err := parseArguments(text)
		require.Error(t, err, text)
	}
}

func addLines(text string) (calls []*loggedCall, err error) {
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if calls, err = addLine(calls, line, 0); err != nil {
			return nil, err
		}
	}
	return calls, nil
}
