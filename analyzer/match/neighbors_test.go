package match_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A neighborhood records the part that each part of a neighborhood collective waits for.
type neighborhood struct {
	recorder
	awaited map[int]int
}

func (n *neighborhood) Collective(c *match.Collective, part int) {
	if c.Class == match.Neighbor {
		n.awaited[part] = c.Awaited(part)
	}
}

// TestNeighborsOfRandomTopologies: in a neighborhood collective a rank waits for the last to enter
// of its sources, whichever call has made the topology. For each of them the graph is random.
func TestNeighborsOfRandomTopologies(t *testing.T) {
	const ranks = 6
	for seed := range uint64(8) {
		for _, how := range []string{"MPI_Graph_create", "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent", "MPI_Cart_create", ""} {
			random := rand.New(rand.NewPCG(seed, uint64(len(how))))
			var edge [ranks][ranks]bool // from, to
			for from := range ranks {
				for to := range ranks {
					edge[from][to] = random.IntN(4) == 0
				}
			}
			b := tracetest.New(ranks)
			comm := b.Comm("topology", 0, 1, 2, 3, 4, 5)
			created := tracetest.Comm(comm)
			topology := &b.Communicator(comm).Topology
			switch how {
			case "MPI_Cart_create": // 3 × 2, of which the first dimension is a ring
				topology.Dims, topology.Periodic = []int{3, 2}, []bool{true, false}
				for from := range ranks {
					for to := range ranks {
						x, y := from/2-to/2, from%2-to%2
						edge[from][to] = x != 0 && y == 0 || x == 0 && y != 0
					}
				}
			case "":
				edge = [ranks][ranks]bool{}
			default:
				topology.Graph = true
			}
			enter := random.Perm(ranks)
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Init(0, 1)
				switch how {
				case "MPI_Graph_create": // all ranks give the whole graph
					var index, edges []int
					for from := range ranks {
						for to := range ranks {
							if edge[to][from] { // what a node lists are its sources, too
								edges = append(edges, to)
							}
						}
						index = append(index, len(edges))
					}
					r.Call(how, 2, 3, args{"nnodes": ranks, "index": index, "edges": edges, "comm_graph": created})
				case "MPI_Dist_graph_create":
					// any rank gives any edges: here rank i some of those from i + 1 and i + 2
					var sources, degrees, destinations []int
					for k := 1; k <= 2; k++ {
						from, degree := (i+k)%ranks, 0
						for to := range ranks {
							if edge[from][to] && to%2 == k%2 {
								destinations = append(destinations, to)
								degree++
							}
						}
						sources, degrees = append(sources, from), append(degrees, degree)
					}
					r.Call(how, 2, 3, args{"n": 2, "sources": sources, "degrees": degrees, "destinations": destinations, "comm_dist_graph": created})
				case "MPI_Dist_graph_create_adjacent":
					var sources []int
					for from := range ranks {
						if edge[from][i] {
							sources = append(sources, from)
						}
					}
					r.Call(how, 2, 3, args{"indegree": len(sources), "sources": sources, "comm_dist_graph": created})
				case "MPI_Cart_create":
					r.Call(how, 2, 3, args{"comm_cart": created})
				default:
					r.Call("MPI_Comm_dup", 2, 3, args{"newcomm": created})
				}
				at := 10 + float64(enter[i])
				r.Call("MPI_Neighbor_alltoall", at, 20, args{"comm": created}).Finalize(21, 22)
			})
			got := neighborhood{awaited: map[int]int{}}
			_, err := match.All(context.Background(), timeline.Of(b.Open(t)), nil, &got, nil)
			require.NoError(t, err)
			for to := range ranks {
				want := -1
				for from := range ranks {
					if edge[from][to] && (want < 0 || enter[from] > enter[want]) {
						want = from
					}
				}
				require.Contains(t, got.awaited, to)
				require.Equal(t, want, got.awaited[to], "%s, seed %d, rank %d", how, seed, to)
			}
		}
	}
}
