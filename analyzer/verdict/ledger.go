package verdict

// A Ledger is the breakdown of the time of all ranks. Every row is rank-seconds, and the rows add
// up to exactly Total.
type Ledger struct {
	TotalNS int64       `json:"total_ns"` // ranks × run time
	Rows    []LedgerRow `json:"rows"`     // in a fixed order: useful first, unexplained last
	// at most 64: the ranks of the causes first, then by rank; tiles if there are more
	ByRank []LedgerRank `json:"by_rank"`
}

// A LedgerRow is one part of the time.
type LedgerRow struct {
	What  string `json:"what"`  // a key like "useful", "preempted", "imbalance", "messages", "unexplained"
	Label string `json:"label"` // description of What
	NS    int64  `json:"ns"`    // sum over all ranks
	Kind  Kind   `json:"kind"`  // kind of the causes that it belongs to; "" if there are none
}

// Keys of the rows that kinds of causes name.
const (
	RowPreempted     = "preempted"
	RowExcess        = "excess"
	RowSerialization = "serialization"
	RowMessages      = "messages"
)

// A Charge is the time in the ledger that belongs to a cause.
type Charge struct {
	Row string // in which it is; "": in all rows of the cause's kind
	// OfRanks is set if only the waiting for ranks of the cause while they compute belongs to it,
	// OfOthers if the row has the waiting for all ranks that no cause names.
	OfRanks, OfOthers bool
	Most              float64 // in seconds; 0: no limit
	Each              float64 // of each rank of the cause, in seconds, of its computation; 0: no part of that
}

// A LedgerRank is the ledger of one rank.
type LedgerRank struct {
	Rank int     `json:"rank"`
	NS   []int64 `json:"ns"` // one per row
}
