package spool

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// However irregular a program is, the recorder stays within its memory limit and loses no call.
// Signatures and a note report what is missing. What was known before is kept, to the argument.
func TestMemoryHasALimit(t *testing.T) {
	calls, limit := 120_000, 4<<20
	if testing.Short() {
		calls, limit = calls/2, limit/2
	}
	for _, kind := range irregularities() {
		t.Run(kind.name, func(t *testing.T) {
			run := startIrregular(t, kind)
			r := run.writer.spool.recorder
			r.Limits.Memory, r.Limits.Grammar = limit, limit/8
			s := run.shim
			regular := func() {
				for range 20 {
					s.CallAt(0, 0x402000, "MPI_Info_set", 0, 0x5c000001, recordtest.Str("known"), recordtest.Str("from the start"))
				}
			}
			regular()
			var functions []uint16
			most := 0
			for run.calls < calls {
				run.prepare(calls >> 3)
				regular()
				words := s.Thread(0).Words
				for at := record.BufferHeaderWords; at < len(words); at += int(record.Low(words[at+record.ReservedWord])) / 8 {
					functions = append(functions, record.FunctionIn(words[at+record.LengthWord]))
				}
				run.play()
				most = max(most, r.Memory())
			}
			if kind.name != "datatypes-kept" { // all of which live, and MPI holds them, too
				require.Less(t, most, limit*3/2)
			}
			c, report, err := Recover(run.writer.dir)
			require.NoError(t, err)
			require.Zero(t, report.Lost)
			require.EqualValues(t, len(functions), report.Calls)

			var b bytes.Buffer
			require.NoError(t, trace.Write(&b, c))
			file, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
			require.NoError(t, err)
			cursor, err := file.Cursor(0, 0)
			require.NoError(t, err)
			generalized, known := 0, 0
			for n := 0; cursor.Next(); n++ {
				e := cursor.Event()
				require.Equal(t, functions[n], e.Function.ID, "call %d", n)
				if e.Signature.Generalized {
					generalized++
				}
				if e.Function.Name == "MPI_Info_set" && e.In[1].Text == "known" {
					require.Equal(t, "from the start", e.In[2].Text)
					require.NotNil(t, e.Site)
					require.False(t, e.Signature.Generalized)
					known++
				}
			}
			require.NoError(t, cursor.Err())
			require.Greater(t, known, 100)
			lacks := slices.Contains([]string{"texts", "sites", "communicators"}, kind.name)
			if lacks {
				require.Positive(t, generalized)
			}
			if generalized > 0 {
				require.Contains(t, fmt.Sprint(c.Meta.Notes), "(generalized)")
			} else {
				require.NotContains(t, fmt.Sprint(c.Meta.Notes), "(generalized)")
			}
			again, err := restored(s.Process, stateOf(r))
			require.NoError(t, err)
			require.True(t, bytes.Equal(stateOf(r), stateOf(again)))
		})
	}
}

// The estimated memory of the recorder agrees with the heap, whatever fills it.
func TestMemoryEstimate(t *testing.T) {
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	calls := 200_000
	if testing.Short() {
		calls = 60_000
	}
	for _, name := range []string{"order", "texts", "sites", "datatypes-kept", "communicators", "all"} {
		t.Run(name, func(t *testing.T) {
			all := irregularities()
			before := heap()
			run := startIrregular(t, all[slices.IndexFunc(all, func(k irregularity) bool { return k.name == name })])
			r := run.writer.spool.recorder
			r.Limits.Memory = 1 << 40
			for run.calls < calls {
				run.prepare(calls / 6)
				run.play()
			}
			clear(run.shim.Threads) // the test's own
			have, estimate := heap()-before, r.Memory()
			t.Logf("%.1f MiB of heap, estimate %.1f", float64(have)/(1<<20), float64(estimate)/(1<<20))
			require.Less(t, float64(have), 1.5*float64(estimate)+2<<20)
			require.Greater(t, float64(have), 0.6*float64(estimate)-2<<20)
			runtime.KeepAlive(run)
		})
	}
}
