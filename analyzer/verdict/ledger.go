package verdict

// A Ledger says what the time of all ranks went to: every row is rank-seconds, and the rows add up to Total exactly.
type Ledger struct {
	TotalNS int64        `json:"total_ns"` // ranks × run time
	Rows    []LedgerRow  `json:"rows"`     // in a fixed order: useful first, unexplained last
	ByRank  []LedgerRank `json:"by_rank"`  // of the ranks, at most 64: culprits first, then by rank; tiles of more
}

// A LedgerRow is what a part of the time went to.
type LedgerRow struct {
	What  string `json:"what"`  // a key like "useful", "preempted", "imbalance", "messages", "unexplained"
	Label string `json:"label"` // the same in words
	NS    int64  `json:"ns"`    // of all ranks together
	Kind  Kind   `json:"kind"`  // of the causes that it counts for; "" where there are none
}

// A LedgerRank is the ledger of one rank.
type LedgerRank struct {
	Rank int     `json:"rank"`
	NS   []int64 `json:"ns"` // one per row
}
