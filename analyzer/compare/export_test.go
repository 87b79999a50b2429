package compare

// Sentence is what Compare says of findings.
func (f *Findings) Sentence() string { return f.sentence() }
