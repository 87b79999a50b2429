package semantics

import "strings"

// A Movement is how a collective operation moves or combines data (MPI 4.0 §6.1).
type Movement uint8

// Movements. Variants with a list of counts, or of datatypes, have the same movement.
const (
	NoMovement Movement = iota
	Broadcast
	Scatter
	Gather
	AllGather
	AllToAllExchange
	Reduce
	AllReduce
	ReduceScatter
	Scan // MPI_Exscan as well
)

var movements = map[string]Movement{
	"bcast": Broadcast, "scatter": Scatter, "scatterv": Scatter, "gather": Gather, "gatherv": Gather,
	"allgather": AllGather, "allgatherv": AllGather,
	"alltoall": AllToAllExchange, "alltoallv": AllToAllExchange, "alltoallw": AllToAllExchange,
	"reduce": Reduce, "allreduce": AllReduce, "reduce_scatter": ReduceScatter, "reduce_scatter_block": ReduceScatter,
	"scan": Scan, "exscan": Scan,
}

// movementOf returns the movement of a collective call. It depends on the name, since classes do
// not distinguish movements.
func movementOf(name string) Movement {
	name = strings.ToLower(strings.TrimPrefix(name, "MPI_"))
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_c"), "_init")
	if m, known := movements[strings.TrimPrefix(name, "neighbor_")]; known {
		return m
	}
	return movements[strings.TrimPrefix(strings.TrimPrefix(name, "i"), "neighbor_")]
}

// receivesFromEach reports whether a receive count is the amount from each process.
func (m Movement) receivesFromEach() bool {
	switch m {
	case Gather, AllGather, AllToAllExchange, ReduceScatter:
		return true
	}
	return false
}
