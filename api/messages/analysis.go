package messages

// Analysis is the termination message of "cairn analyze --job".
type Analysis struct {
	Analysis string `json:"analysis"`
	Index    int    `json:"index"`
	OK       bool   `json:"ok"`
	// Failed are the runs that could not be analyzed, such as "0/3", with the reason.
	Failed  string          `json:"failed,omitempty"`
	Message string          `json:"message"`
	Storage *StorageTrouble `json:"storage,omitempty"`
}

// Fit shortens the message until it fits into a termination message.
func (a Analysis) Fit() Analysis {
	a.Failed, a.Message, a.Storage = Shorten(a.Failed, maxText), Shorten(a.Message, maxText), a.Storage.fit(maxText)
	squeeze(func() bool { return fits(a) }, &a.Failed, &a.Message, a.Storage.text())
	return a
}
