package spool

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// chaoticProgram calls in an order that has no rule, with stretches of a loop.
func chaoticProgram(t testing.TB, seed uint64, calls int) *recordtest.Shim {
	random := rand.New(rand.NewPCG(seed, 6))
	s := recordtest.NewShim(t)
	s.Process.BootID = ""
	s.Init(0, 64)
	for n := 0; n < calls; {
		thread := uint32(random.IntN(2))
		if random.IntN(50) == 0 {
			for range random.IntN(400) {
				s.Call(thread, "MPI_Barrier", 0, recordtest.CommWorld)
				s.Call(thread, "MPI_Send", 0, 1, 5, recordtest.TypeInt, 1, 7, recordtest.CommWorld)
				n += 2
			}
		}
		s.Clock += random.Uint64N(1 << 24)
		s.Call(thread, "MPI_Send", 0, 1, random.IntN(4), recordtest.TypeInt, random.IntN(60), 7, recordtest.CommWorld)
		n++
	}
	return s
}

// What was called is the same with chapters as without, from a process that lives, was killed, or
// whose times are coded meanwhile; and what a checkpoint writes does not grow with the calls.
func TestChapters(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := chaoticProgram(t, seed, 30_000)
			whole := wholeContent(s)
			w, dir := startSpool(t, s)
			w.spool.recorder.Limits.Grammar = []int{20_000, 50_000, 60_000, 70_000}[seed]
			limit := w.spool.recorder.Limits.Grammar
			w.play(s, func(n int) {
				if n%997 != 0 {
					return
				}
				require.Less(t, w.spool.recorder.Memory(), 2*3*limit+(1<<20), "two threads, with what comes between two checkpoints")
				w.spool.raw = checkpointBytes + w.spool.stateSize + 1
				if n%(5*997) == 0 {
					c, report, err := snapshot(dir)
					require.NoError(t, err)
					require.Greater(t, report.Calls, uint64(n-2000))
					for i := range c.Threads.Len() {
						th := c.Threads.At(i)
						require.Equal(t, recordtest.Lines(t, whole, th.Thread)[:th.Calls], recordtest.Lines(t, c, i))
					}
				}
			})
			require.Greater(t, w.spool.recorder.ClosedChapters()[0].Calls, uint64(3_000))
			c, report, err := Recover(dir)
			require.NoError(t, err)
			require.Zero(t, report.Lost)
			compare(t, whole, c)
			requireTimes(t, s, c, func(int) uint64 { return 1 << 40 })
		})
	}
}

// Times are coded with the terminals of the chapters that their calls are in.
func TestPackWithChapters(t *testing.T) {
	s := chaoticProgram(t, 9, 700_000)
	whole := wholeContent(s)
	w, dir := startSpool(t, s)
	w.spool.recorder.Limits.Grammar = 200_000
	coded := uint64(0)
	w.play(s, func(n int) {
		if n%30_000 == 0 {
			w.spool.raw = checkpointBytes + w.spool.stateSize + 1
		}
		if n%50_000 == 1 {
			coded += packed(t, dir).Calls
		}
	})
	require.Greater(t, coded, uint64(100_000))
	c, _, err := Recover(dir)
	require.NoError(t, err)
	require.Positive(t, w.spool.recorder.ClosedChapters()[0].Calls)
	requireTimes(t, s, c, func(int) uint64 { return 1 << 40 })
	compare(t, whole, c)
	again, _, err := Recover(dir)
	require.NoError(t, err)
	require.True(t, bytes.Equal(written(t, c), written(t, recordtest.InMemory(t)(again, nil))))
}
