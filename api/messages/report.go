package messages

// Report is the termination message of "cairn report --job".
type Report struct {
	// Runs are the worst runs, at most MaxRuns. RunCount counts all.
	Runs     []Run  `json:"runs"`
	RunCount int    `json:"run_count"`
	Verdict  string `json:"verdict"`
	// Message describes what is wrong with the existing reports.
	Message string          `json:"message,omitempty"`
	Storage *StorageTrouble `json:"storage,omitempty"`
}

// Fit shortens the message until it fits into a termination message.
func (r Report) Fit() Report {
	r.Verdict, r.Message, r.Storage = Shorten(r.Verdict, maxText), Shorten(r.Message, maxText), r.Storage.fit(maxText)
	r.RunCount = max(r.RunCount, len(r.Runs))
	r.Runs = fitRuns(r.Runs, func(runs []Run) bool { r.Runs = runs; return fits(r) })
	squeeze(func() bool { return fits(r) }, &r.Verdict, &r.Message, r.Storage.text())
	return r
}
