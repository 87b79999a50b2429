package messages

// Ship is the termination message of "cairn ship", the sidecar. It reports to the operator what the
// pod could not send, even if the storage does not respond.
type Ship struct {
	// Lost names the ranks that are not in the storage, one line for each MPI_COMM_WORLD.
	Lost []string `json:"lost,omitempty"`
	// LostCount is the number of these lines before the message was shortened.
	LostCount int `json:"lost_count,omitempty"`
	// Storage is why uploads failed most recently; nil if they did not.
	Storage *StorageTrouble `json:"storage,omitempty"`
	// Message is any other problem of the sidecar.
	Message string `json:"message,omitempty"`
}

// Fit shortens the message until it fits into a termination message.
func (s Ship) Fit() Ship {
	s.Message = Shorten(s.Message, maxShared)
	s.Storage = s.Storage.fit(maxShared)
	s.LostCount = max(s.LostCount, len(s.Lost))
	lost := make([]string, len(s.Lost))
	for i, line := range s.Lost {
		lost[i] = Shorten(line, maxShared)
	}
	s.Lost = lost
	for len(s.Lost) > 0 && !fits(s) {
		s.Lost = s.Lost[:len(s.Lost)-1]
	}
	squeeze(func() bool { return fits(s) }, &s.Message, s.Storage.text())
	return s
}
