package grammar

// A Mark is a moment at which a grammar had come round.
type Mark struct {
	tail                     int32
	count, length, surprises uint64
}

// A Repetition is what was appended between two such moments, if the exponent of the root's last symbol is all
// that has changed: then the same terminals once more change it by as much again.
type Repetition struct {
	tail                     int32
	count, length, surprises uint64
}

// CameRound reports whether prediction is at its beginning: it waits for one more of the root's last symbol.
func (s *Sequitur) CameRound() bool { return len(s.path) == 0 && s.expected >= 0 }

// Mark is the present moment; the grammar must have come round.
func (s *Sequitur) Mark() Mark {
	tail := s.tail()
	return Mark{tail: tail, count: s.nodes[tail].count, length: s.length, surprises: s.surprises}
}

// Since is what was appended since a moment. It is false if that was not all predicted, or the grammar has not come
// round.
func (s *Sequitur) Since(m Mark) (Repetition, bool) {
	if !s.CameRound() || s.surprises != m.surprises || s.tail() != m.tail {
		return Repetition{}, false
	}
	return Repetition{
		tail: m.tail, count: s.nodes[m.tail].count - m.count, length: s.length - m.length, surprises: m.surprises,
	}, true
}

// Again appends n times what a repetition was. It is false, and nothing is appended, if something else than what was
// predicted has come since, or the grammar has not come round.
func (s *Sequitur) Again(r Repetition, n uint64) bool {
	if !s.CameRound() || s.surprises != r.surprises || s.tail() != r.tail {
		return false
	}
	s.nodes[r.tail].count += n * r.count
	s.length += n * r.length
	return true
}
