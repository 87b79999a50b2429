package messages

// Merge is the termination message of "cairn merge --job".
type Merge struct {
	// Runs are the worst runs, at most MaxRuns. RunCount counts all.
	Runs     []Run `json:"runs"`
	RunCount int   `json:"run_count"`
	// Levels are the numbers of parts of the levels that must follow. If it is set, there are no
	// runs yet.
	Levels []int `json:"levels,omitempty"`
	// Lost are the ranks that sidecars could not send. Missing ranks of a listed run are in Runs.
	Lost string `json:"lost"`
	// IncompleteRuns counts the runs that lack ranks or calls, including those that are not listed.
	IncompleteRuns int    `json:"incomplete_runs,omitempty"`
	Message        string `json:"message"`
	// Storage is set if the storage caused the failure.
	Storage *StorageTrouble `json:"storage,omitempty"`
}

// Fit shortens the message until it fits into a termination message.
func (m Merge) Fit() Merge {
	m.Lost, m.Message, m.Storage = Shorten(m.Lost, maxText), Shorten(m.Message, maxText), m.Storage.fit(maxText)
	m.RunCount = max(m.RunCount, len(m.Runs))
	m.Runs = fitRuns(m.Runs, func(runs []Run) bool { m.Runs = runs; return fits(m) })
	squeeze(func() bool { return fits(m) }, &m.Lost, &m.Message, m.Storage.text())
	return m
}
