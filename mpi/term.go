package mpi

// Term is a number of elements as a function of the call's arguments.
type Term struct {
	Op TermOp

	// Param is the index of the parameter that Op applies to.
	Param int

	// Param2 is the second one, for TermNeighbors: the rank.
	Param2 int

	// Value is the number itself for TermNumber. For any other term it is added to the term's
	// value.
	Value int

	// Name is the constant's name for TermConstant.
	Name string
}

// TermOp is how the value of a Term is determined.
type TermOp uint8

const (
	// TermNone: there is no such term.
	TermNone TermOp = iota
	// TermNumber: Value.
	TermNumber
	// TermConstant: the constant Name of mpi.h.
	TermConstant
	// TermParam: the parameter's value on entry.
	TermParam
	// TermResult: what the parameter points to after the call.
	TermResult
	// TermNull: up to a terminating NULL.
	TermNull
	// TermSum: the sum of the elements of an in array.
	TermSum
	// TermLast: the last element of an in array, 0 if it is empty.
	TermLast
	// TermSize: the remote group's size for an intercommunicator, else the
	// communicator's.
	TermSize
	// TermLocalsize: MPI_Comm_size.
	TermLocalsize
	// TermIndegree and TermOutdegree: the caller's neighbors in any topology.
	TermIndegree
	// TermOutdegree: see TermIndegree.
	TermOutdegree
	// TermNdims: the dimensions of a Cartesian communicator.
	TermNdims
	// TermNnodes and TermNedges: of a communicator with a graph topology.
	TermNnodes
	TermNedges
	// TermNeighbors: the neighbors of rank Param2 in the graph of Param.
	TermNeighbors
	// TermIntegers, TermAddresses, TermDatatypes, TermCounts: the lengths of
	// the contents of a datatype (MPI 4.0 §5.1.13).
	TermIntegers
	TermAddresses
	TermDatatypes
	TermCounts
)

var termNames = [...]string{
	TermNone:      "none",
	TermNumber:    "number",
	TermConstant:  "constant",
	TermParam:     "param",
	TermResult:    "result",
	TermNull:      "null",
	TermSum:       "sum",
	TermLast:      "last",
	TermSize:      "size",
	TermLocalsize: "localsize",
	TermIndegree:  "indegree",
	TermOutdegree: "outdegree",
	TermNdims:     "ndims",
	TermNnodes:    "nnodes",
	TermNedges:    "nedges",
	TermNeighbors: "neighbors",
	TermIntegers:  "integers",
	TermAddresses: "addresses",
	TermDatatypes: "datatypes",
	TermCounts:    "counts",
}

func (op TermOp) String() string { return termNames[op] }

// TermOpByName returns the operation that functions.txt writes as a function
// of a parameter, as in size(comm).
func TermOpByName(name string) (TermOp, bool) {
	for op := TermSum; int(op) < len(termNames); op++ {
		if termNames[op] == name {
			return op, true
		}
	}
	return TermNone, false
}
