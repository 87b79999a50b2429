package simulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// configs returns one configuration of each pattern, with the required options.
func configs() []Config {
	configs := []Config{
		{Pattern: "stencil2d", Ranks: 16, Points: 9, Periodic: true, Cartesian: true},
		{Pattern: "stencil3d", Ranks: 27, Points: 27},
		{Pattern: "stencil2d", Ranks: 6, Bytes: 100_000},
		{Pattern: "ring", Ranks: 1},
		{Pattern: "ring", Ranks: 5, Bytes: 100_000},
		{Pattern: "transpose", Ranks: 8},
	}
	for _, name := range Names() {
		configs = append(configs, Config{Pattern: name, Ranks: 16, Imbalance: Imbalance{Noise: 20, Linear: 10}})
	}
	return configs
}

// Every pattern gives valid traces: messages and collectives agree on both sides, and no effect
// comes before its cause.
func TestPatterns(t *testing.T) {
	for _, config := range configs() {
		t.Run(config.Pattern, func(t *testing.T) {
			s, err := New(config)
			require.NoError(t, err)
			contents, err := s.Contents()
			require.NoError(t, err)
			type channel struct {
				comm              string
				source, dest, tag int64
			}
			sent, received := map[channel][][2]int64{}, map[channel][][2]int64{}
			for rank, c := range contents {
				require.NoError(t, c.Validate())
				require.Equal(t, rank, c.Ranks.At(0).Rank)
				require.Empty(t, c.Meta.Notes)
				cursor, err := c.Cursor(rank, 0)
				require.NoError(t, err)
				last := int64(0)
				for cursor.Next() {
					e := cursor.Event()
					require.GreaterOrEqual(t, e.EnterTicks, last)
					require.Greater(t, e.ExitTicks, e.EnterTicks)
					last = e.ExitTicks
					world := func(v trace.Value) int64 {
						return int64(c.Communicators[e.Comm].Members.At(int(v.Int)))
					}
					comm := ""
					if e.Comm >= 0 {
						comm = c.Communicators[e.Comm].GlobalName
					}
					switch e.Function.Name {
					case "MPI_Send", "MPI_Isend":
						k := channel{comm, int64(rank), world(e.In[3]), e.In[4].Int}
						sent[k] = append(sent[k], [2]int64{e.EnterTicks, e.In[1].Int})
					case "MPI_Sendrecv":
						k := channel{comm, int64(rank), world(e.In[3]), e.In[4].Int}
						sent[k] = append(sent[k], [2]int64{e.EnterTicks, e.In[1].Int})
						fallthrough
					case "MPI_Recv":
						status := e.Out[1].List
						k := channel{comm, world(status[0]), int64(rank), status[1].Int}
						received[k] = append(received[k], [2]int64{e.ExitTicks, status[4].Int})
					}
				}
				require.NoError(t, cursor.Err())
			}
			for k, messages := range received {
				require.GreaterOrEqual(t, len(sent[k]), len(messages), "%+v", k)
				for i, m := range messages {
					require.Greater(t, m[0], sent[k][i][0], "message %d of %+v is received before it is sent", i, k)
					require.Equal(t, sent[k][i][1], m[1])
				}
			}
		})
	}
}

// Without the replay the calls are the same, except times and what depends on them.
func TestNoReplay(t *testing.T) {
	for _, config := range configs() {
		if config.Pattern == "master-worker" || config.Pattern == "random" {
			continue
		}
		t.Run(config.Pattern, func(t *testing.T) {
			replayed, err := New(config)
			require.NoError(t, err)
			config.NoReplay = true
			alone, err := New(config)
			require.NoError(t, err)
			for _, rank := range []int{0, config.Ranks - 1} {
				a, err := replayed.Rank(rank)
				require.NoError(t, err)
				b, err := alone.Rank(rank)
				require.NoError(t, err)
				for _, c := range []*trace.Content{a, b} {
					c.Ranks.Change(0, func(r *trace.Rank) { r.Clock.Samples = nil })
					c.Threads.Change(0, func(t *trace.Thread) { t.Timing, t.EndTick, t.InsideTicks = nil, 0, 0 })
				}
				require.Equal(t, a, b)
			}
		})
	}
}

func TestWaits(t *testing.T) {
	const ms = int64(time.Millisecond)
	model := Model{Call: 1000, Latency: 10_000, PerByte: 1, Eager: 1000, Collective: 20_000}
	for _, test := range []struct {
		name    string
		program func(r *Rank)
		waits   []Wait
		end     int64
	}{
		{"late sender", func(r *Rank) {
			if r.rank == 0 {
				r.now += 5 * ms
				r.Send(r.World(), 1, 0, 100)
			} else if r.rank == 1 {
				r.Recv(r.World(), 0, 0, 100)
			}
		}, []Wait{{0, 2, WaitAtFinalize, 1, 9_100}, {1, 1, LateSender, 0, 5 * ms}, {2, 1, WaitAtFinalize, 1, 5*ms + 10_100}},
			6*ms + 10_100 + 20_000},
		{"late receiver", func(r *Rank) {
			if r.rank == 0 {
				r.Send(r.World(), 1, 0, 5000)
			} else if r.rank == 1 {
				r.now += 5 * ms
				r.Recv(r.World(), 0, 0, 5000)
			}
		}, []Wait{{0, 1, LateReceiver, 1, 5 * ms}, {2, 1, WaitAtFinalize, 0, 5*ms + 5000}}, 6*ms + 5000 + 20_000},
		{"barrier", func(r *Rank) {
			r.now += int64(r.rank) * ms
			r.Barrier(r.World())
		}, []Wait{{0, 1, WaitAtBarrier, 2, 2 * ms}, {1, 1, WaitAtBarrier, 2, ms}}, 3*ms + 40_000},
		{"broadcast", func(r *Rank) {
			if r.rank == 1 {
				r.now += ms
			}
			r.Bcast(r.World(), 1, 8)
			r.Barrier(r.World())
		}, []Wait{{0, 1, LateBroadcast, 1, ms}, {1, 2, WaitAtBarrier, 0, 19_000}, {2, 1, LateBroadcast, 1, ms}}, 2*ms + 60_000},
		{"reduce", func(r *Rank) {
			r.now += int64(r.rank) * ms
			r.Reduce(r.World(), 0, 8)
			r.Barrier(r.World())
		}, []Wait{{0, 1, EarlyReduce, 1, ms}, {1, 2, WaitAtBarrier, 0, ms + 19_000}, {2, 2, WaitAtBarrier, 0, 19_000}}, 3*ms + 60_000},
		{"waitall takes the latest", func(r *Rank) {
			if r.rank == 0 {
				q := []*Request{r.Irecv(r.World(), 1, 0, 8), r.Irecv(r.World(), 2, 0, 8)}
				r.Waitall(q)
			} else {
				r.now += int64(r.rank) * ms
				r.Send(r.World(), 0, 0, 8)
			}
			r.Barrier(r.World())
		}, []Wait{{0, 3, LateSender, 2, 2*ms - 2000}, {1, 2, WaitAtBarrier, 0, ms + 9008}, {2, 2, WaitAtBarrier, 0, 9008}},
			3*ms + 10_008 + 40_000},
		{"waitany takes the first", func(r *Rank) {
			if r.rank == 0 {
				q := []*Request{r.Irecv(r.World(), 2, 0, 8), r.Irecv(r.World(), 1, 0, 8)}
				if first, _ := r.Waitany(q); first != 1 {
					panic("the later message")
				}
				if second, _ := r.Waitany(q); second != 0 {
					panic("twice the same")
				}
			} else {
				r.now += int64(r.rank) * ms
				r.Send(r.World(), 0, 0, 8)
			}
			r.Barrier(r.World())
		}, []Wait{{0, 3, LateSender, 1, ms - 2000}, {0, 4, LateSender, 2, ms - 10_008}, {1, 2, WaitAtBarrier, 0, ms + 9008},
			{2, 2, WaitAtBarrier, 0, 9008}}, 3*ms + 10_008 + 40_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Config{Ranks: 3, Model: model}
			require.NoError(t, c.defaults())
			s := &Simulation{config: &c, program: test.program}
			require.NoError(t, s.replay())
			require.Equal(t, test.waits, s.Waits())
			require.Equal(t, test.end, s.End())
		})
	}
}

func TestDeadlock(t *testing.T) {
	c := Config{Ranks: 2}
	require.NoError(t, c.defaults())
	s := &Simulation{config: &c, program: func(r *Rank) { r.At(33).Recv(r.World(), 1-r.rank, 0, 8) }}
	require.ErrorContains(t, s.replay(), "deadlock: rank 0 waits in its call 1 (ring:33)")
}

func TestWrongConfigurations(t *testing.T) {
	for _, config := range []Config{
		{Pattern: "nothing"}, {Ranks: -1}, {Ranks: maxRanks + 1}, {Pattern: "butterfly", Ranks: 6},
		{Pattern: "stencil2d", Ranks: 6, Grid: []int{2, 2}}, {Pattern: "stencil3d", Ranks: 8, Points: 5},
		{Pattern: "master-worker", Ranks: 1}, {Pattern: "master-worker", NoReplay: true}, {CallSites: "all"},
		{Iterations: -1}, {Compute: -1},
	} {
		_, err := New(config)
		require.Error(t, err, "%+v", config)
	}
}

func TestDivide(t *testing.T) {
	for n, want := range map[int][]int{1: {1, 1, 1}, 8: {2, 2, 2}, 12: {3, 2, 2}, 27: {3, 3, 3}, 7: {7, 1, 1}, 1 << 20: {128, 128, 64}} {
		require.Equal(t, want, divide(n, 3))
	}
	require.Equal(t, []int{1024, 1024}, divide(1<<20, 2))
	require.Equal(t, []int{4, 3}, divide(12, 2))
}

// A message to another node takes longer by Model.Between.
func TestBetweenNodes(t *testing.T) {
	arrived := map[int]time.Duration{}
	_, err := NewOf(Config{Ranks: 4, RanksPerNode: 2, Model: Model{Between: 70_000}}, func(r *Rank) {
		if r.Rank() > 0 {
			r.Recv(r.World(), 0, 0, 8)
			arrived[r.Rank()] = r.Now()
			return
		}
		for to := 1; to < 4; to++ {
			r.Send(r.World(), to, 0, 8)
		}
	})
	require.NoError(t, err)
	const call = 200 * time.Nanosecond
	require.Equal(t, arrived[1]+70*time.Microsecond+call, arrived[2])
	require.Equal(t, arrived[2]+call, arrived[3])
}
