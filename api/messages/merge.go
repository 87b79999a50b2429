package messages

// Merge is the termination message of "cairn merge --job".
type Merge struct {
	// Runs are the worst ones, at most MaxRuns; RunCount counts all.
	Runs     []Run `json:"runs"`
	RunCount int   `json:"run_count"`
	// Levels are the parts of the levels that are to follow before there are runs; then there are none yet.
	Levels []int `json:"levels,omitempty"`
	// Lost are the ranks that sidecars could not send; the ranks of the message that are missing are in Runs.
	Lost string `json:"lost"`
	// IncompleteRuns is how many runs lack ranks or calls, also of those that are not listed.
	IncompleteRuns int    `json:"incomplete_runs,omitempty"`
	Message        string `json:"message"`
	// Storage is set if the storage was the reason for a failure.
	Storage *StorageTrouble `json:"storage,omitempty"`
}

// Fit shortens the message until Kubernetes keeps it.
func (m Merge) Fit() Merge {
	m.Lost, m.Message, m.Storage = Shorten(m.Lost, maxText), Shorten(m.Message, maxText), m.Storage.fit(maxText)
	m.RunCount = max(m.RunCount, len(m.Runs))
	m.Runs = fitRuns(m.Runs, func(runs []Run) bool { m.Runs = runs; return fits(m) })
	squeeze(func() bool { return fits(m) }, &m.Lost, &m.Message, m.Storage.text())
	return m
}
