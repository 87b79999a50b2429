package strips

// Findings are the strips.
type Findings struct {
	Strips *Strips `json:"strips"` // null if the times of single calls were not recorded
}

// Strips show how ranks (as in Ranks) spent equal intervals of the run: one byte for each, 255 for
// all of it, in base64. Wait greater than MPI means that the rank was not running. If there are
// many ranks, Tile consecutive ones share a strip, which is their mean.
type Strips struct {
	Bins int      `json:"bins"`
	Tile int      `json:"tile"`
	MPI  [][]byte `json:"mpi"`
	Wait [][]byte `json:"wait"`
}
