package grammar

// A Snapshot is the state of a grammar at the start of an iteration of the root's last symbol.
type Snapshot struct {
	tail                     int32
	count, length, surprises uint64
}

// A Repetition is what was appended between two Snapshots if only the exponent of the root's last
// symbol changed. Appending the same terminals again changes that exponent by the same amount.
type Repetition struct {
	tail                     int32
	count, length, surprises uint64
}

// AtIterationStart reports whether the prediction is at the beginning of an iteration: it expects
// one more repetition of the root's last symbol.
func (s *Sequitur) AtIterationStart() bool { return len(s.path) == 0 && s.expected >= 0 }

// Snapshot returns the present state. The grammar must be AtIterationStart.
func (s *Sequitur) Snapshot() Snapshot {
	tail := s.tail()
	return Snapshot{tail: tail, count: s.nodes[tail].count, length: s.length, surprises: s.surprises}
}

// Since returns what was appended since a snapshot. It returns false if not all of it was
// predicted, or the grammar is not AtIterationStart.
func (s *Sequitur) Since(m Snapshot) (Repetition, bool) {
	if !s.AtIterationStart() || s.surprises != m.surprises || s.tail() != m.tail {
		return Repetition{}, false
	}
	return Repetition{
		tail: m.tail, count: s.nodes[m.tail].count - m.count, length: s.length - m.length, surprises: m.surprises,
	}, true
}

// Repeat appends a repetition n times. It returns false and appends nothing if a terminal was not
// predicted since r was taken, or the grammar is not AtIterationStart.
func (s *Sequitur) Repeat(r Repetition, n uint64) bool {
	if !s.AtIterationStart() || s.surprises != r.surprises || s.tail() != r.tail {
		return false
	}
	s.nodes[r.tail].count += n * r.count
	s.length += n * r.length
	return true
}
