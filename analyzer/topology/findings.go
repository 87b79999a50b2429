package topology

// SchemaVersion is the version of Findings.
const SchemaVersion = 2

// Findings are the shapes in which ranks communicate by point-to-point messages.
type Findings struct {
	SchemaVersion int       `json:"schema_version"`
	Run           Finding   `json:"run"`           // all communicators together, ranks of MPI_COMM_WORLD
	Communicators []Finding `json:"communicators"` // communicators with messages, equal ones together; most bytes first
	Notes         []string  `json:"notes"`

	Shape *Topology `json:"-"` // of the run, for other analyses
}

// A Finding is the topology of a communicator, or of several equal ones.
type Finding struct {
	Name          string `json:"name,omitempty"`          // of the first communicator
	Communicators int    `json:"communicators,omitempty"` // how many
	Ranks         int    `json:"ranks"`                   // of each
	// Topology names the pattern with its sizes ("8 x 4 torus"), "irregular", or "no messages".
	Topology   string   `json:"topology"`
	Family     Family   `json:"family,omitempty"`
	Dimensions []int    `json:"dimensions,omitempty"` // slowest first
	Periodic   []bool   `json:"periodic,omitempty"`
	Aliases    []string `json:"aliases,omitempty"` // other patterns that are the same graph
	Natural    bool     `json:"natural"`           // ranks are numbered like the pattern
	OneWay     bool     `json:"one_way"`           // messages go in one direction along each dimension: a wavefront
	Copies     int      `json:"copies,omitempty"`  // groups of ranks that each form the pattern
	Silent     int      `json:"silent_ranks"`      // ranks without messages
	Filtered   bool     `json:"filtered"`          // pairs with little traffic were left out to find the pattern
	Inside     Volume   `json:"inside"`            // traffic along the pattern
	Outside    Volume   `json:"outside"`           // and the rest
	LostCalls  float64  `json:"lost_calls"`        // Outside as a share of all, 0 to 1: the paper's accuracy measure
	LostBytes  float64  `json:"lost_bytes"`
	// Places are the coordinates of each rank in the pattern, slowest dimension first, preceded by
	// the number of the copy if there are several; null for ranks without messages. Omitted for
	// more than 4,096 ranks.
	Places [][]int `json:"coordinates,omitempty"`
}
