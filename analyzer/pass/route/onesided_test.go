package route_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// window adds the creation of a window on all ranks, from 5 to 6 on each: no rank waits.
func window(b *tracetest.Builder) *tracetest.Builder {
	return b.Ranks(func(_ int, r *tracetest.Rank) {
		r.Init(0, 5).Call("MPI_Win_create", 5, 6, tracetest.Args{"win": tracetest.Win(0)})
	})
}

// groupOf adds a group with one rank of the world.
func groupOf(r *tracetest.Rank, at float64, member, g int) {
	r.Call("MPI_Comm_group", at, at+0.1, tracetest.Args{"group": tracetest.Group(9)})
	r.Call("MPI_Group_incl", at+0.2, at+0.3, tracetest.Args{"group": tracetest.Group(9), "n": 1, "ranks": []int{member}, "newgroup": tracetest.Group(g)})
}

var onWindow = tracetest.Args{"win": tracetest.Win(0)}

var oneSidedPatterns = []pattern{
	{
		// Fences end 1 after the last entry: ranks enter the first one at 10, 20, 60 (waits 50 +
		// 40), the second at 70, 90, 80 (waits 20 + 10). Then rank 0 is the last.
		name: "fence",
		build: func() *tracetest.Builder {
			b := window(tracetest.New(3))
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Call("MPI_Win_fence", []float64{10, 20, 60}[i], 61, onWindow)
				r.Call("MPI_Win_fence", []float64{70, 90, 80}[i], 91, onWindow)
				r.Finalize([]float64{98, 95, 95}[i], []float64{100, 96, 96}[i])
			})
			return b
		},
		path: []piece{
			{2, 0, 5, "MPI_Init"}, {2, 5, 6, "MPI_Win_create"}, {2, 6, 60, "computation"}, {1, 60, 61, "MPI_Win_fence"},
			{1, 61, 90, "computation"}, {0, 90, 91, "MPI_Win_fence"}, {0, 91, 98, "computation"}, {0, 98, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at fence": 90 + 30},
	},
	{
		// MPI_Win_fence with MPI_MODE_NOPRECEDE may leave before the others enter: rank 0 is in it
		// from 10 to 11 and does not wait for rank 1, which enters at 50.
		name: "fence that does not wait",
		build: func() *tracetest.Builder {
			b := window(tracetest.New(2))
			fence := tracetest.Args{"win": tracetest.Win(0), "assert": "MPI_MODE_NOPRECEDE"}
			b.Rank(0).Call("MPI_Win_fence", 10, 11, fence).Finalize(95, 100)
			b.Rank(1).Call("MPI_Win_fence", 50, 51, fence).Finalize(60, 61)
			return b
		},
		path: []piece{
			{0, 0, 5, "MPI_Init"}, {0, 5, 6, "MPI_Win_create"}, {0, 6, 10, "computation"}, {0, 10, 11, "MPI_Win_fence"},
			{0, 11, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{},
	},
	{
		// Rank 0 starts an access epoch to rank 1 at 10 and is blocked in MPI_Win_start until
		// rank 1 posts at 50.
		name: "late post at start",
		build: func() *tracetest.Builder {
			b := window(tracetest.New(2))
			groupOf(b.Rank(0), 7, 1, 1)
			groupOf(b.Rank(1), 7, 0, 1)
			b.Rank(0).Call("MPI_Win_start", 10, 52, tracetest.Args{"group": tracetest.Group(1), "win": tracetest.Win(0)}).
				Call("MPI_Win_complete", 60, 61, onWindow).Finalize(95, 100)
			b.Rank(1).Call("MPI_Win_post", 50, 51, tracetest.Args{"group": tracetest.Group(1), "win": tracetest.Win(0)}).
				Call("MPI_Win_wait", 70, 71, onWindow).Finalize(80, 81)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 6, "MPI_Win_create"}, {1, 6, 7, "computation"}, {1, 7, 7.1, "MPI_Comm_group"}, {1, 7.1, 7.2, "computation"},
			{1, 7.2, 7.3, "MPI_Group_incl"}, {1, 7.3, 50, "computation"}, {0, 50, 52, "MPI_Win_start"}, {0, 52, 60, "computation"},
			{0, 60, 61, "MPI_Win_complete"}, {0, 61, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late post": 40},
	},
	{
		// The same with an implementation that waits in MPI_Win_complete: MPI_Win_start returns
		// at 11, and the wait is from 20 to 50.
		name: "late post at complete",
		build: func() *tracetest.Builder {
			b := window(tracetest.New(2))
			groupOf(b.Rank(0), 7, 1, 1)
			groupOf(b.Rank(1), 7, 0, 1)
			b.Rank(0).Call("MPI_Win_start", 10, 11, tracetest.Args{"group": tracetest.Group(1), "win": tracetest.Win(0)}).
				Call("MPI_Win_complete", 20, 53, onWindow).Finalize(95, 100)
			b.Rank(1).Call("MPI_Win_post", 50, 51, tracetest.Args{"group": tracetest.Group(1), "win": tracetest.Win(0)}).
				Call("MPI_Win_wait", 70, 71, onWindow).Finalize(80, 81)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 6, "MPI_Win_create"}, {1, 6, 7, "computation"}, {1, 7, 7.1, "MPI_Comm_group"}, {1, 7.1, 7.2, "computation"},
			{1, 7.2, 7.3, "MPI_Group_incl"}, {1, 7.3, 50, "computation"}, {0, 50, 53, "MPI_Win_complete"},
			{0, 53, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late post": 30},
	},
	{
		// Rank 1 exposes its window at 8 and waits from 10 on for the ends of two accesses: rank
		// 0's at 40, rank 2's at 70.
		name: "early wait",
		build: func() *tracetest.Builder {
			b := window(tracetest.New(3))
			b.Rank(1).Call("MPI_Comm_group", 6.5, 6.6, tracetest.Args{"group": tracetest.Group(9)}).
				Call("MPI_Group_range_incl", 6.7, 6.8, tracetest.Args{"group": tracetest.Group(9), "n": 1, "ranges": []int{0, 2, 2}, "newgroup": tracetest.Group(1)}).
				Call("MPI_Win_post", 8, 9, tracetest.Args{"group": tracetest.Group(1), "win": tracetest.Win(0)}).
				Call("MPI_Win_wait", 10, 72, onWindow).Finalize(95, 100)
			for _, i := range []int{0, 2} {
				r := b.Rank(i)
				groupOf(r, 7, 1, 1)
				end := 40 + 15*float64(i)
				r.Call("MPI_Win_start", 10, 11, tracetest.Args{"group": tracetest.Group(1), "win": tracetest.Win(0)}).
					Call("MPI_Win_complete", end, end+1, onWindow).Finalize(80, 81)
			}
			return b
		},
		path: []piece{
			{2, 0, 5, "MPI_Init"}, {2, 5, 6, "MPI_Win_create"}, {2, 6, 7, "computation"}, {2, 7, 7.1, "MPI_Comm_group"}, {2, 7.1, 7.2, "computation"},
			{2, 7.2, 7.3, "MPI_Group_incl"}, {2, 7.3, 10, "computation"}, {2, 10, 11, "MPI_Win_start"}, {2, 11, 70, "computation"},
			{1, 70, 72, "MPI_Win_wait"}, {1, 72, 95, "computation"}, {1, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"early wait": 60},
	},
	{
		// Three ranks lock rank 0's window exclusively, with an implementation that blocks in
		// MPI_Win_lock. Rank 1 has the lock from 10 to 40; rank 2 requests it at 20, gets it at 41
		// (waits 20) and releases it at 60; rank 0 requests it at 30 and gets it at 61 (waits 30,
		// for rank 2). A shared lock on rank 1's window at the same time does not affect them.
		name: "lock contention",
		build: func() *tracetest.Builder {
			b := window(tracetest.New(3))
			exclusive := tracetest.Args{"lock_type": "MPI_LOCK_EXCLUSIVE", "rank": 0, "win": tracetest.Win(0)}
			unlock := tracetest.Args{"rank": 0, "win": tracetest.Win(0)}
			b.Rank(1).Call("MPI_Win_lock", 10, 11, exclusive).Call("MPI_Win_unlock", 40, 41, unlock).Finalize(50, 51)
			b.Rank(2).Call("MPI_Win_lock", 7, 7.5, tracetest.Args{"lock_type": "MPI_LOCK_SHARED", "rank": 1, "win": tracetest.Win(0)}).
				Call("MPI_Win_unlock", 8, 8.5, tracetest.Args{"rank": 1, "win": tracetest.Win(0)}).
				Call("MPI_Win_lock", 20, 41, exclusive).Call("MPI_Win_unlock", 60, 61, unlock).Finalize(70, 71)
			b.Rank(0).Call("MPI_Win_lock", 30, 61, exclusive).Call("MPI_Win_unlock", 80, 81, unlock).Finalize(95, 100)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 6, "MPI_Win_create"}, {1, 6, 10, "computation"}, {1, 10, 11, "MPI_Win_lock"}, {1, 11, 40, "computation"},
			{2, 40, 41, "MPI_Win_lock"}, {2, 41, 60, "computation"}, {0, 60, 61, "MPI_Win_lock"}, {0, 61, 80, "computation"},
			{0, 80, 81, "MPI_Win_unlock"}, {0, 81, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"lock contention": 20 + 30},
	},
	{
		// The same with an implementation that takes the lock on release: MPI_Win_lock returns at
		// once. Rank 1 has it until it enters MPI_Win_unlock at 40; rank 2, in MPI_Win_unlock from
		// 25 to 48, waits for that (15), and rank 0, in it from 35 to 55, gets the lock when rank
		// 2's wait ended at 40: 5; rank 2's time after that is communication.
		name: "lock contention at unlock",
		build: func() *tracetest.Builder {
			b := window(tracetest.New(3))
			exclusive := tracetest.Args{"lock_type": "MPI_LOCK_EXCLUSIVE", "rank": 0, "win": tracetest.Win(0)}
			unlock := tracetest.Args{"rank": 0, "win": tracetest.Win(0)}
			b.Rank(1).Call("MPI_Win_lock", 10, 11, exclusive).Call("MPI_Win_unlock", 40, 42, unlock).Finalize(50, 51)
			b.Rank(2).Call("MPI_Win_lock", 20, 21, exclusive).Call("MPI_Win_unlock", 25, 48, unlock).Finalize(70, 71)
			b.Rank(0).Call("MPI_Win_lock", 30, 31, exclusive).Call("MPI_Win_unlock", 35, 55, unlock).Finalize(95, 100)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 6, "MPI_Win_create"}, {1, 6, 10, "computation"}, {1, 10, 11, "MPI_Win_lock"}, {1, 11, 40, "computation"},
			{0, 40, 55, "MPI_Win_unlock"}, {0, 55, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"lock contention": 15 + 5},
	},
	{
		// Shared locks exclude no rank; an exclusive one waits for those of all ranks
		// (MPI_Win_lock_all).
		name: "lock for all",
		build: func() *tracetest.Builder {
			b := window(tracetest.New(3))
			for _, i := range []int{1, 2} {
				b.Rank(i).Call("MPI_Win_lock_all", 10+float64(i), 12+float64(i), onWindow).Call("MPI_Win_unlock_all", 20+20*float64(i), 21+20*float64(i), onWindow).Finalize(70, 71)
			}
			b.Rank(0).Call("MPI_Win_lock", 20, 61, tracetest.Args{"lock_type": "MPI_LOCK_EXCLUSIVE", "rank": 0, "win": tracetest.Win(0)}).
				Call("MPI_Win_unlock", 80, 81, tracetest.Args{"rank": 0, "win": tracetest.Win(0)}).Finalize(95, 100)
			return b
		},
		// rank 2 releases its lock at 60
		path: []piece{
			{2, 0, 5, "MPI_Init"}, {2, 5, 6, "MPI_Win_create"}, {2, 6, 12, "computation"}, {2, 12, 14, "MPI_Win_lock_all"}, {2, 14, 60, "computation"},
			{0, 60, 61, "MPI_Win_lock"}, {0, 61, 80, "computation"}, {0, 80, 81, "MPI_Win_unlock"}, {0, 81, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"lock contention": 40},
	},
	{
		// Windows are created and freed by all: rank 1 comes late to the creation (30) and rank 0
		// to the end (80).
		name: "window",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Init(0, 5).Call("MPI_Win_allocate", []float64{10, 30}[i], 32, onWindow)
				r.Call("MPI_Win_free", []float64{80, 40}[i], 82, onWindow).Finalize([]float64{95, 90}[i], []float64{100, 91}[i])
			})
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 30, "computation"}, {0, 30, 32, "MPI_Win_allocate"}, {0, 32, 80, "computation"},
			{0, 80, 82, "MPI_Win_free"}, {0, 82, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at window": 20 + 40},
	},
	{
		// A file is opened by all, written at once (rank 1 is late, 50), and written again by a
		// split collective whose end rank 0 enters at 70 while rank 1 begins it at 80.
		name: "collective file access",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			file := tracetest.Args{"fh": tracetest.File(0)}
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Init(0, 5).Call("MPI_File_open", 6, 7, file).Call("MPI_File_write_all", []float64{20, 50}[i], 53, file)
				r.Call("MPI_File_write_all_begin", []float64{60, 80}[i], []float64{61, 81}[i], file).Call("MPI_File_write_all_end", []float64{70, 82}[i], 84, file)
				r.Finalize([]float64{95, 90}[i], []float64{100, 91}[i])
			})
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 6, "computation"}, {1, 6, 7, "MPI_File_open"}, {1, 7, 50, "computation"}, {1, 50, 53, "MPI_File_write_all"},
			{1, 53, 80, "computation"}, {0, 80, 84, "MPI_File_write_all_end"}, {0, 84, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at collective file access": 30 + 10},
	},
	{
		// A non-blocking collective read: rank 0 waits for it from 30 on; rank 1 joins at 60.
		name: "non-blocking collective file access",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			wait := tracetest.Args{"request": tracetest.Request(0), "status": tracetest.Status{Source: -1}}
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Init(0, 5).Call("MPI_File_open", 6, 7, tracetest.Args{"fh": tracetest.File(0)})
				r.Call("MPI_File_iread_all", []float64{20, 60}[i], []float64{21, 61}[i], tracetest.Args{"fh": tracetest.File(0), "request": tracetest.Request(0)})
				r.Call("MPI_Wait", []float64{30, 62}[i], 64, wait).Finalize([]float64{95, 90}[i], []float64{100, 91}[i])
			})
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 6, "computation"}, {1, 6, 7, "MPI_File_open"}, {1, 7, 60, "computation"},
			{0, 60, 64, "MPI_Wait"}, {0, 64, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at collective file access": 30},
	},
	{
		// A distributed graph 2 → 0, 0 → 1: rank 0's only source is 2 (50), rank 1's is 0 (10);
		// rank 2 has none.
		name: "neighborhood in a graph",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			graph := b.Comm("graph", 0, 1, 2)
			b.Communicator(graph).Topology.Graph = true
			sources := [][]int{{2}, {0}, {}}
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Init(0, 5).Call("MPI_Dist_graph_create_adjacent", 6, 8, tracetest.Args{
					"indegree": len(sources[i]), "sources": sources[i], "comm_dist_graph": tracetest.Comm(graph)})
				r.Call("MPI_Neighbor_alltoall", []float64{10, 40, 50}[i], []float64{52, 41, 51}[i], tracetest.Args{"comm": tracetest.Comm(graph)})
				r.Finalize([]float64{95, 70, 70}[i], []float64{100, 75, 75}[i])
			})
			return b
		},
		path: []piece{
			{2, 0, 5, "MPI_Init"}, {2, 5, 6, "computation"}, {2, 6, 8, "MPI_Dist_graph_create_adjacent"}, {2, 8, 50, "computation"},
			{0, 50, 52, "MPI_Neighbor_alltoall"}, {0, 52, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at neighborhood collective": 40},
	},
	{
		// A partitioned message of two partitions, ready at 30 and 60. Rank 1 divides it into two
		// as well and asks for the first from 20 on (it is there at 31: 10 waited), then computes
		// and waits for all of it from 40: 20.
		name: "partitioned",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Call("MPI_Psend_init", 5, 6, tracetest.Args{"partitions": 2, "dest": 1, "request": tracetest.Request(0)}).
				Call("MPI_Start", 7, 8, tracetest.Args{"request": tracetest.Request(0)})
			for k, at := range []float64{30, 60} {
				b.Rank(0).Call("MPI_Pready", at, at+0.5, tracetest.Args{"partition": k, "request": tracetest.Request(0)})
			}
			b.Rank(0).Call("MPI_Wait", 61, 62, tracetest.Args{"request": tracetest.Request(0), "status": tracetest.Status{Source: -1}}).Finalize(70, 71)
			r := b.Rank(1).Init(0, 5).Call("MPI_Precv_init", 5, 6, tracetest.Args{"partitions": 2, "source": 0, "request": tracetest.Request(0)}).
				Call("MPI_Start", 7, 8, tracetest.Args{"request": tracetest.Request(0)})
			for at := 20.0; at < 31; at += 0.09 {
				flag := 0
				if at > 30.9 {
					flag = 1
				}
				r.Call("MPI_Parrived", at, at+0.01, tracetest.Args{"request": tracetest.Request(0), "partition": 0, "flag": flag})
			}
			r.Call("MPI_Wait", 40, 62, tracetest.Args{"request": tracetest.Request(0), "status": tracetest.Status{Source: 0, Bytes: 64}}).Finalize(95, 100)
			return b
		},
		path: []piece{
			{0, 0, 5, "MPI_Init"}, {0, 5, 6, "MPI_Psend_init"}, {0, 6, 7, "computation"}, {0, 7, 8, "MPI_Start"}, {0, 8, 30, "computation"},
			{0, 30, 30.5, "MPI_Pready"}, {0, 30.5, 60, "computation"}, {1, 60, 62, "MPI_Wait"}, {1, 62, 95, "computation"}, {1, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late sender": 10 + 20},
	},
}

func TestOneSidedPatterns(t *testing.T) {
	for _, p := range oneSidedPatterns {
		t.Run(p.name, p.test)
	}
}
