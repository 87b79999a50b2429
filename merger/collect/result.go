package collect

import (
	"strings"

	"github.com/cairn-mpi/cairn/api/messages"
)

// A Result is the outcome of a merge.
type Result struct {
	Levels   []int // number of parts of each level that has to follow before there are runs
	Runs     []messages.Run
	Lost     []string // ranks that sidecars could not upload, or that left nothing to upload
	Problems []string // what was damaged, late or unexpected
}

// Message returns the termination message. err is the error of Merge, if any.
func (r *Result) Message(err error) messages.Merge {
	m := messages.Merge{Runs: []messages.Run{}}
	if r != nil {
		m.Runs, m.RunCount, m.Levels = r.Runs, len(r.Runs), r.Levels
		m.Lost, m.Message = strings.Join(r.Lost, "; "), strings.Join(r.Problems, "; ")
		for i := range r.Runs {
			if r.Runs[i].MissingRanks != "" || r.Runs[i].CallsLost > 0 {
				m.IncompleteRuns++
			}
		}
	}
	if err != nil {
		m.Message = strings.TrimSuffix(err.Error()+"; "+m.Message, "; ")
	}
	return m.Fit()
}
