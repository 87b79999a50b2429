package compare

import "context"

// Sentence is the summary of findings.
func (f *Findings) Sentence() string { return f.sentence() }

// A Looked is a run that has been read, to be compared more than once.
type Looked struct{ run *run }

// Look reads a trace.
func Look(ctx context.Context, t Recording) (Looked, error) {
	r, err := readRun(ctx, "", t)
	return Looked{r}, err
}

// Differences compares runs.
func Differences(a, b []Looked) (Findings, error) {
	runs := func(side []Looked) (list []*run) {
		for _, l := range side {
			list = append(list, l.run)
		}
		return list
	}
	return differences(runs(a), runs(b))
}
