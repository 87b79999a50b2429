package strips

// Findings are the strips.
type Findings struct {
	Strips *Strips `json:"strips"` // null where times of single calls were not kept
}

// Strips show how ranks (as in Ranks) spent equal parts of the run: one byte each, 255 for all of it, in base64. Wait above
// MPI marks a part in which the rank was not there. Of many ranks, Tile neighbors share a strip: their mean.
type Strips struct {
	Bins int      `json:"bins"`
	Tile int      `json:"tile"`
	MPI  [][]byte `json:"mpi"`
	Wait [][]byte `json:"wait"`
}
