package parquet

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Random programs with rounded times: in the tables no message is received before it was sent,
// nobody leaves a barrier before all have entered, no thread's time goes backward, and messages
// join with calls of the same times.
func TestEffectsComeAfterCausesInTables(t *testing.T) {
	repaired := uint64(0)
	for seed := range int64(12) {
		content := tracetest.Random(t, seed, 2+int(seed)%4, 60, time.Millisecond)
		dir, summary := written(t, tracetest.Open(t, tracetest.Rounded(t, content, "lossy 20")), Options{})
		repaired += summary.Repairs.Repaired
		calls, messages := read[callRow](t, dir, "calls"), read[messageRow](t, dir, "messages")
		require.NotEmpty(t, messages)
		for _, m := range messages {
			send, post, end := &calls[m.SendCallID], &calls[m.RecvPostCallID], &calls[*m.RecvCallID]
			assert.Less(t, m.SendEnterNS, *m.RecvExitNS, "seed %d: %+v", seed, m)
			assert.Equal(t, []int64{*send.EnterNS, *send.ExitNS, *post.EnterNS, *end.ExitNS},
				[]int64{m.SendEnterNS, m.SendExitNS, m.RecvPostNS, *m.RecvExitNS})
			assert.Equal(t, m.SendEnterNS-m.RecvPostNS, m.LateNS)
		}
		checkBarriers(t, calls)
		last := map[int32]int64{}
		for i := range calls {
			c := &calls[i]
			before, same := last[c.Rank]
			assert.True(t, (!same || before <= *c.EnterNS) && *c.EnterNS <= *c.ExitNS, "%+v", c)
			assert.Equal(t, *c.ExitNS-*c.EnterNS, *c.DurationNS)
			last[c.Rank] = *c.ExitNS
		}
		for _, w := range read[waitRow](t, dir, "waits") {
			assert.LessOrEqual(t, w.EndNS, *calls[w.CallID].ExitNS)
		}
		assert.Equal(t, summary.Repairs.Text(), metadata(t, dir, "messages", "cairn.causality"))
	}
	assert.Greater(t, repaired, uint64(100), "nothing to repair proves nothing")
}

// checkBarriers has nobody leave the n-th barrier before all have entered it.
func checkBarriers(t *testing.T, calls []callRow) {
	t.Helper()
	nth, entered, left := map[int32]int{}, map[int]int64{}, map[int]int64{}
	for i := range calls {
		if c := &calls[i]; c.Function == "MPI_Barrier" {
			n := nth[c.Rank]
			nth[c.Rank]++
			if _, known := left[n]; !known {
				entered[n], left[n] = *c.EnterNS, *c.ExitNS
			}
			entered[n], left[n] = max(entered[n], *c.EnterNS), min(left[n], *c.ExitNS)
		}
	}
	for n := range left {
		assert.LessOrEqual(t, entered[n], left[n], "barrier %d", n)
	}
}

// metadata is what a file says of itself.
func metadata(t *testing.T, dir, table, key string) string {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, table+".parquet"))
	require.NoError(t, err)
	defer file.Close()
	about, err := file.Stat()
	require.NoError(t, err)
	opened, err := pq.OpenFile(file, about.Size())
	require.NoError(t, err)
	value, _ := opened.Lookup(key)
	return value
}
