package spool

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Times are dropped at random times while the process continues, sometimes by a packer that is
// killed: the trace has all calls, marks those with sums only, and has exactly these sums.
func TestCoarsenWhileTheProcessGoesOn(t *testing.T) {
	calls := 900_000
	if testing.Short() {
		calls /= 2
	}
	for seed := range uint64(2) {
		random := rand.New(rand.NewPCG(seed, 9))
		s := longProgram(t, seed, calls)
		s.Process.Timing = "lossless"
		want := wholeContent(s)
		w, dir := startSpool(t, s)
		given := uint64(0)
		coarsen := func() {
			d, err := OpenPath(dir)
			require.NoError(t, err)
			defer d.Close()
			parts, err := d.LocalParts()
			require.NoError(t, err)
			per := []uint64{timing.ShortSums, timing.LongSums}[random.IntN(2)]
			var numbers []int
			for _, p := range parts {
				if random.IntN(2) == 0 {
					numbers = append(numbers, p.Number)
				}
			}
			if random.IntN(2) == 0 {
				require.NoError(t, os.WriteFile(filepath.Join(dir, partNew), []byte("CAIRN"), 0o644))
			}
			done, err := d.Coarsen(per, numbers)
			require.NoError(t, err)
			require.LessOrEqual(t, done.After, done.Before)
			given += done.Calls
		}
		w.play(s, func(n int) {
			if n%(calls/22) == 0 {
				w.spool.raw = checkpointBytes + w.spool.stateSize + 1
			}
			if random.IntN(calls/36) == 0 {
				packed(t, dir)
				coarsen()
				c, _, err := snapshot(dir)
				require.NoError(t, err)
				written(t, c)
			}
		})
		packed(t, dir)
		for given == 0 {
			coarsen()
		}
		c, report, err := Recover(dir)
		require.NoError(t, err)
		require.Zero(t, report.Lost)
		b := written(t, c)
		r, err := trace.Open(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		coarse := r.Coarse()
		require.NotEmpty(t, coarse)
		require.Equal(t, coarse, c.Coarse())
		for i := range want.Threads.Len() {
			th := want.Threads.At(i)
			sums := map[uint64]bool{}
			for _, c := range coarse {
				for at := c.From; c.Thread == th.Thread && at < c.To; at += timing.BlockCalls {
					sums[at/timing.BlockCalls] = true
				}
			}
			gaps, durations, err := r.Timing(i)
			require.NoError(t, err)
			require.Len(t, gaps, len(th.Gaps))
			var exact, got [2]int64
			for k := range gaps {
				if block := uint64(k) / timing.BlockCalls; !sums[block] && (th.Gaps[k] != gaps[k] || th.Durations[k] != durations[k]) {
					t.Fatalf("call %d: %d and %d ticks, want %d and %d", k, gaps[k], durations[k], th.Gaps[k], th.Durations[k])
				}
				exact[0], exact[1] = exact[0]+th.Gaps[k], exact[1]+th.Durations[k]
				got[0], got[1] = got[0]+gaps[k], got[1]+durations[k]
			}
			require.Equal(t, exact, got)
		}
	}
}
