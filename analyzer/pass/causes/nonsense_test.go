package causes_test

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
)

// nonsense returns a trace of random calls of all functions of MPI with random arguments: requests
// that were never made, collectives that do not match, statuses of missing ranks, calls that go
// back in time.
func nonsense(random *rand.Rand) *tracetest.Builder {
	ranks := 1 + random.IntN(4)
	b := tracetest.New(ranks)
	comms := []int{0, b.Comm("some", 0), b.Comm("none")}
	inter := b.Comm("inter", 0)
	b.Communicator(inter).Remote = b.Communicator(0).Members
	cart := b.Comm("cart", 0, ranks-1)
	b.Communicator(cart).Topology.Dims = []int{2, random.IntN(3)}
	comms = append(comms, inter, cart)
	interesting := []string{
		"MPI_Init", "MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Test",
		"MPI_Send_init", "MPI_Start", "MPI_Request_free", "MPI_Sendrecv", "MPI_Bcast", "MPI_Ibcast", "MPI_Barrier", "MPI_Allreduce", "MPI_Scan",
		"MPI_Reduce", "MPI_Neighbor_allgather", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Mrecv", "MPI_Comm_split", "MPI_Finalize",
		"MPI_Win_create", "MPI_Win_free", "MPI_Win_fence", "MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait", "MPI_Win_test",
		"MPI_Win_lock", "MPI_Win_unlock", "MPI_Win_lock_all", "MPI_Win_unlock_all", "MPI_Comm_group", "MPI_Group_incl", "MPI_Group_range_incl",
		"MPI_File_open", "MPI_File_close", "MPI_File_write_all", "MPI_File_iread_all", "MPI_File_read_all_begin", "MPI_File_read_all_end",
		"MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Pready_range", "MPI_Parrived", "MPI_Dist_graph_create_adjacent", "MPI_Dist_graph_create", "MPI_Graph_create",
	}
	b.Ranks(func(_ int, r *tracetest.Rank) {
		now := 0.0
		for range random.IntN(60) {
			f := &mpi.Functions[random.IntN(len(mpi.Functions))]
			if random.IntN(5) > 0 || f.ID == 0 {
				f = mpi.ByName(interesting[random.IntN(len(interesting))])
			}
			args := tracetest.Args{}
			for i := range f.Params {
				if p := &f.Params[i]; random.IntN(8) > 0 {
					args[p.Name] = argument(random, p, comms)
				}
			}
			enter := now + 10*random.Float64()
			now = enter + 10*random.Float64() - 2
			r.Call(f.Name, enter, now, args)
		}
		if random.IntN(3) == 0 {
			r.Info().EndedEarly = "killed"
		}
		if random.IntN(3) == 0 {
			r.Info().BootID = "elsewhere"
		}
	})
	return b
}

func argument(random *rand.Rand, p *mpi.Param, comms []int) any {
	status := func() tracetest.Status {
		return tracetest.Status{Source: random.IntN(7) - 2, Tag: random.IntN(3), Bytes: random.IntN(3)*5000 - 1, Cancelled: random.IntN(9) == 0}
	}
	switch p.Kind {
	case mpi.KindComm:
		return tracetest.Comm(comms[random.IntN(len(comms))])
	case mpi.KindRequest:
		if p.IsArray() {
			list := tracetest.Requests{}
			for range random.IntN(4) {
				list = append(list, tracetest.Request(random.IntN(5)-1))
			}
			return list
		}
		return tracetest.Request(random.IntN(5) - 1)
	case mpi.KindWin:
		return tracetest.Win(random.IntN(2))
	case mpi.KindFile:
		return tracetest.File(random.IntN(2))
	case mpi.KindGroup:
		return tracetest.Group(random.IntN(3))
	case mpi.KindLockType:
		return []string{"MPI_LOCK_EXCLUSIVE", "MPI_LOCK_SHARED"}[random.IntN(2)]
	case mpi.KindMessage:
		return tracetest.Message(random.IntN(3))
	case mpi.KindStatus:
		if p.IsArray() {
			list := []tracetest.Status{}
			for range random.IntN(4) {
				list = append(list, status())
			}
			return list
		}
		return status()
	case mpi.KindRank, mpi.KindRoot, mpi.KindTag:
		names := []string{"MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_ANY_TAG", "MPI_ROOT", "MPI_UNDEFINED"}
		if k := random.IntN(12); k < len(names) {
			return names[k]
		}
	}
	if p.IsArray() {
		return []int{random.IntN(4) - 1, random.IntN(4) - 1}
	}
	return random.IntN(8) - 2
}

// TestNonsense: for any trace the analysis ends with findings in which the path is as long as the
// run.
func TestNonsense(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		f := analyzertest.Built(t, nonsense(rand.New(rand.NewPCG(seed, 0))))
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, f.Path)
		}
	}
}

func TestNothingBlamesNobody(t *testing.T) {
	assert.Equal(t, verdict.Nobody, judged(t, tracetest.New(2)).Blames)
}

// A call that sends nothing is no message, however long it takes: no cause says that messages make
// the job slow because of it. If it does its work within the rank, the cause says so.
func TestCallsWithoutMessages(t *testing.T) {
	communicates := regexp.MustCompile(`^MPI_(Start|Startall|Cancel|(Wait|Test)(any|all|some)?|Request_get_status.*|Pready.*|Parrived|R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate|` +
		`Get_accumulate|Fetch_and_op|Compare_and_swap|Buffer_(detach|flush|iflush)|.*_(detach|flush|iflush)_buffer|Win_(start|complete|post|wait|test|lock|unlock|flush|sync).*|` +
		`.*([Ss]end|[Rr]ecv|probe|Probe).*)(_c)?$`)
	said := map[verdict.Kind]int{}
	for i := range mpi.Functions {
		f := &mpi.Functions[i]
		if f.Name == "" {
			continue // there is no function 0
		}
		b := tracetest.New(2)
		b.Ranks(func(_ int, r *tracetest.Rank) {
			r.Init(0, 1)
			now := 2.0
			for range 20 {
				r.Call(f.Name, now, now+50, nil)
				r.Call("MPI_Barrier", now+51, now+52, nil)
				now += 53
			}
			r.Finalize(now, now+1)
		})
		v := find(t, b.Content()).Verdict
		if len(v.Causes) == 0 {
			continue
		}
		kind := v.Causes[0].Kind
		said[kind]++
		switch kind {
		case verdict.Messages:
			assert.True(t, communicates.MatchString(f.Name), "%s: %s", f.Name, v.Text)
		case verdict.Local:
			assert.False(t, communicates.MatchString(f.Name), "%s: %s", f.Name, v.Text)
			assert.NotContains(t, v.Causes[0].Advice(verdict.Neighbors{})[0], "collect")
		}
	}
	assert.Greater(t, said[verdict.Messages], 20, "calls that do send")
	assert.Greater(t, said[verdict.Local], 100)
}
