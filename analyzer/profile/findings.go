package profile

// SchemaVersion is the version of Findings. It is incremented when a key is removed or changes its
// meaning.
const SchemaVersion = 1

// Findings are the profile of a run. Seconds are the time inside calls; nested calls count twice.
type Findings struct {
	SchemaVersion int    `json:"schema_version"`
	Cells         []Cell `json:"cells"`         // sums over all ranks, longest first
	CellsOmitted  int    `json:"cells_omitted"` // number of shorter ones that are not listed
	Functions     []Row  `json:"functions"`
	// by name: the label that the program has set, otherwise the global name; the 100 longest
	Communicators []Row     `json:"communicators"`
	SizeClasses   []SizeRow `json:"size_classes"` // in order of size, calls without a size last
	Ranks         []RankRow `json:"ranks"`
	Matrix        Matrix    `json:"matrix"`
	// Layouts are the derived datatypes of call sites, for the search of causes.
	Layouts map[CallSite]Layout `json:"-"`
}

// A CallSite is one function at one call site.
type CallSite struct{ Function, CallSite string }

// A Layout is the data of calls with derived datatypes: in how many contiguous pieces it lies in
// memory.
type Layout struct{ Calls, Blocks, Bytes uint64 }

// Add adds the data of other calls.
func (l *Layout) Add(o Layout) {
	l.Calls, l.Blocks, l.Bytes = l.Calls+o.Calls, l.Blocks+o.Blocks, l.Bytes+o.Bytes
}

// A Volume is a number of calls, their time and bytes.
type Volume struct {
	Calls   uint64  `json:"calls"`
	Seconds float64 `json:"seconds"`
	Bytes   uint64  `json:"bytes"`
	Unsized uint64  `json:"unsized_calls"` // calls with data of a datatype of unknown size
}

// A Cell is one function at one call site, on one communicator and in one size class.
type Cell struct {
	Function     string `json:"function"`
	CallSite     string `json:"call_site"`
	Communicator string `json:"communicator"` // "" if the call has none
	SizeClass    string `json:"size_class"`   // as in SizeRow
	Volume
}

// A Row is one function, or one communicator.
type Row struct {
	Name string `json:"name"`
	Volume
}

// A SizeRow is one size class: calls of From up to To bytes. "0 B", "1 B", "2 B – 3 B", "4 B – 7
// B", …, "1 KiB to below 2 KiB", …, by powers of two.
type SizeRow struct {
	Name string `json:"name"` // "" for calls without data
	From uint64 `json:"from_bytes"`
	To   uint64 `json:"to_bytes"`
	Volume
}

// A RankRow is one rank with all its threads.
type RankRow struct {
	Rank int `json:"rank"`
	Volume
}

// A Matrix is the point-to-point traffic between ranks of the world, in tiles of Tile × Tile ranks,
// so that there are at most 256 × 256 of them.
type Matrix struct {
	Ranks   int    `json:"ranks"` // of the world
	Tile    int    `json:"tile"`  // ranks per tile in either direction; 1: one tile per pair of ranks
	Cells   []Tile `json:"cells"` // tiles with messages, by From, then To
	Unknown uint64 `json:"unknown_messages"`
}

// A Tile is the traffic from ranks From·Tile … to ranks To·Tile ….
type Tile struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Calls uint64 `json:"calls"`
	Bytes uint64 `json:"bytes"`
}
