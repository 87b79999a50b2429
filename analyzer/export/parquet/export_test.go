package parquet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Two ranks; rank 1 computes longer and makes rank 0 wait.
func two() *tracetest.Builder {
	b := tracetest.New(2)
	b.Rank(0).Init(1, 2).Recv(3, 9, 1, 8).Send(9, 10, 1).Finalize(12, 13)
	b.Rank(1).Init(1, 2).Send(8, 9, 0).Recv(9, 11, 0, 8).Finalize(12, 13)
	return b
}

// written exports a trace and gives the directory.
func written(t *testing.T, r *trace.Reader, o Options) (string, Summary) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tables")
	summary, err := Write(context.Background(), dir, timeline.Of(r), o)
	require.NoError(t, err)
	size := int64(0)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, file := range files {
		about, err := file.Info()
		require.NoError(t, err)
		size += about.Size()
	}
	assert.Equal(t, size, summary.Bytes)
	return dir, summary
}

func read[T any](t *testing.T, dir, name string) []T {
	t.Helper()
	rows, err := pq.ReadFile[T](filepath.Join(dir, name+".parquet"))
	require.NoError(t, err)
	return rows
}

const ms = tracetest.Unit

func TestTables(t *testing.T) {
	dir, summary := written(t, two().Open(t), Options{})
	assert.EqualValues(t, 8, summary.Calls)
	assert.EqualValues(t, 2, summary.Messages)

	calls := read[callRow](t, dir, "calls")
	require.Len(t, calls, 8)
	for i, c := range calls {
		assert.EqualValues(t, i, c.CallID)
		assert.EqualValues(t, i/4, c.Rank)
		assert.EqualValues(t, i%4, c.Index)
		assert.Equal(t, *c.ExitNS-*c.EnterNS, *c.DurationNS)
	}
	receive := calls[1]
	assert.Equal(t, "MPI_Recv", receive.Function)
	assert.EqualValues(t, []int64{2 * ms, 8 * ms, 5 * ms}, []int64{*receive.EnterNS, *receive.ExitNS, *receive.WaitingNS},
		"since the run began; it waits from 3 until the send at 8")
	assert.EqualValues(t, 1, *receive.Peer)
	assert.EqualValues(t, 0, *receive.CommID)
	assert.Equal(t, "MPI_COMM_WORLD", receive.Communicator)
	assert.Contains(t, receive.Arguments, `"source":1`)
	assert.Nil(t, receive.Root)
	assert.Nil(t, receive.TimesOf)

	messages := read[messageRow](t, dir, "messages")
	require.Len(t, messages, 2)
	first := messages[0]
	assert.EqualValues(t, []int64{5, 1, 1}, []int64{first.SendCallID, first.RecvPostCallID, *first.RecvCallID})
	assert.EqualValues(t, []int32{1, 0}, []int32{first.SendRank, first.RecvRank})
	assert.EqualValues(t, 5*ms, first.LateNS, "posted at 3, sent at 8")
	assert.EqualValues(t, 8, *first.Bytes)

	waits := read[waitRow](t, dir, "waits")
	require.NotEmpty(t, waits)
	late := waits[0]
	assert.Equal(t, "late sender", late.Kind)
	assert.EqualValues(t, []int64{1, 5 * ms, 5}, []int64{late.CallID, late.WaitingNS, *late.CauseCallID})
	assert.EqualValues(t, 1, late.CauseRank)

	length := int64(0)
	for _, s := range read[pathRow](t, dir, "path") {
		assert.Equal(t, length, s.StartNS, "no gaps")
		length += s.DurationNS
	}
	assert.EqualValues(t, 12*ms, length)
	ledger := int64(0)
	for _, row := range read[ledgerRow](t, dir, "ledger") {
		if row.Rank == nil {
			ledger += row.TimeNS
		}
	}
	assert.EqualValues(t, 2*12*ms, ledger, "ranks × run")
	ranks := read[rankRow](t, dir, "ranks")
	require.Len(t, ranks, 2)
	assert.EqualValues(t, 5*ms, *ranks[0].WaitingNS)
	assert.Equal(t, []int32{0, 1}, read[communicatorRow](t, dir, "communicators")[0].Members)
}

// An operation's cause is the entry of the rank that came last, and the kind of a collective call
// has its root and operator.
func TestCollective(t *testing.T) {
	b := tracetest.New(3)
	for i := range 3 {
		b.Rank(i).Init(0, 1).Call("MPI_Allreduce", float64(2+i), 6, tracetest.Args{"count": 2, "datatype": "MPI_DOUBLE", "op": "MPI_SUM"}).
			Rooted("MPI_Bcast", 7, 8, 2).Finalize(9, 10)
	}
	dir, _ := written(t, b.Open(t), Options{})
	for _, w := range read[waitRow](t, dir, "waits") {
		if w.Function == "MPI_Allreduce" {
			assert.EqualValues(t, []int64{2, 9}, []int64{int64(w.CauseRank), *w.CauseCallID})
		}
	}
	for _, c := range read[callRow](t, dir, "calls") {
		switch c.Function {
		case "MPI_Allreduce":
			assert.Equal(t, []string{"MPI_DOUBLE", "MPI_SUM"}, []string{c.Datatype, c.Operation})
			assert.EqualValues(t, []int64{2, 16}, []int64{*c.Count, *c.Bytes})
			assert.EqualValues(t, (2-int64(c.Rank))*ms, *c.WaitingNS)
		case "MPI_Bcast":
			assert.EqualValues(t, 2, *c.Root)
		}
	}
}

func TestRangeAndRanks(t *testing.T) {
	o := Options{From: 2 * time.Millisecond, To: 7500 * time.Microsecond, Ranks: []int{0}}
	dir, summary := written(t, two().Open(t), o)
	calls := read[callRow](t, dir, "calls")
	require.Len(t, calls, 1, "the receive lies between 2 and 8")
	assert.EqualValues(t, 1, calls[0].CallID, "numbers are those of the whole trace")
	assert.Zero(t, summary.Messages, "both ends have to be there")
	assert.EqualValues(t, 1, summary.Waits)

	_, err := Write(context.Background(), t.TempDir(), timeline.Of(two().Open(t)), Options{Ranks: []int{7}})
	assert.ErrorContains(t, err, "none of the ranks")
	empty := t.TempDir()
	_, err = Write(context.Background(), empty, timeline.Of(two().Open(t)), Options{From: time.Hour})
	require.ErrorIs(t, err, ErrNothing)
	files, err := os.ReadDir(empty)
	require.NoError(t, err)
	assert.Empty(t, files, "all tables or none")
}

// Without the times of single calls there are calls without times, and of tables of an earlier
// export nothing is left.
func TestAggregatedTiming(t *testing.T) {
	content := two().Content()
	content.Meta.Timing = timing.Settings{Mode: timing.Aggregated}
	for i := range content.Threads.Len() {
		content.Threads.Change(i, func(th *trace.Thread) {
			th.Gaps, th.Durations = nil, nil
			for terminal := range len(content.Signatures) {
				if content.Grammar.CountsOf([]grammar.Symbol{grammar.RuleSymbol(th.Root, 1)})[int32(terminal)] > 0 {
					a := timing.Aggregate{Terminal: int32(terminal)}
					a.Durations.Add(ms)
					a.Gaps.Add(0)
					th.Aggregates = append(th.Aggregates, a)
				}
			}
		})
	}
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, content))
	r, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	dir, _ := written(t, two().Open(t), Options{})
	summary, err := Write(context.Background(), dir, timeline.Of(r), Options{})
	require.NoError(t, err)
	assert.NotEmpty(t, summary.Left)
	calls := read[callRow](t, dir, "calls")
	require.Len(t, calls, 8)
	for _, c := range calls {
		assert.Nil(t, c.EnterNS)
		assert.Nil(t, c.WaitingNS)
	}
	assert.NoFileExists(t, filepath.Join(dir, "messages.parquet"))
	_, err = Write(context.Background(), dir, timeline.Of(r), Options{From: time.Millisecond})
	require.ErrorContains(t, err, "timing aggregated")
}

// What is noted of waits comes back, also when the spool is on disk and calls are asked for
// that did not wait.
func TestWaitedComesBack(t *testing.T) {
	w := newWaited(1)
	defer w.close()
	for i := range uint64(10_000) {
		w.add(0, 3*i+1, int64(i))
	}
	w.finish()
	r, err := w.of(0)
	require.NoError(t, err)
	for i := range uint64(30_000) {
		want := int64(0)
		if i%3 == 1 {
			want = int64(i / 3)
		}
		require.Equal(t, want, r.at(i))
	}
}
