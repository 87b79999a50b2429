package messages

// Ship is the termination message of "cairn ship", the sidecar: it tells the operator what the pod could not send, also
// when the storage is away.
type Ship struct {
	// Lost names the ranks that are not in the storage, a line for each world.
	Lost []string `json:"lost,omitempty"`
	// LostCount is how many lines there were.
	LostCount int `json:"lost_count,omitempty"`
	// Storage is why uploads failed last; nil if they did not.
	Storage *StorageTrouble `json:"storage,omitempty"`
	// Message is anything else that kept the sidecar from its work.
	Message string `json:"message,omitempty"`
}

// Fit shortens the message until Kubernetes keeps it.
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
