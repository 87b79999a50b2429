package program

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// Findings are the program as one text.
type Findings struct {
	Program *program.Findings `json:"program"` // null if it was left out
	// Omitted is the reason why the program was left out, and how to get it.
	Omitted string   `json:"program_omitted,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// Analysis finds one program text for all ranks.
var Analysis = analysis.New("program", analysis.About{Title: "the program of all ranks", Version: 1, Sections: Sections}, find)

// Limits of the work: the other analyses take longer than stepsPerCall for each call, and
// enoughSteps take one or two seconds of CPU time and a few hundred megabytes.
const (
	enoughSteps  = 32_000_000
	stepsPerCall = 2
)

func find(ctx context.Context, r *pass.Run) (Findings, error) {
	var calls uint64
	for _, thread := range r.Trace().Threads().All() {
		calls += thread.Calls
	}
	return within(ctx, r.Trace(), enoughSteps+stepsPerCall*int(calls))
}

// within returns the program if a number of steps is enough for it.
func within(ctx context.Context, t timeline.Trace, steps int) (Findings, error) {
	found, err := program.Analyze(ctx, t, program.Options{MaxLines: program.MaxShown, MaxSteps: steps})
	if errors.Is(err, program.ErrTooIrregular) {
		why := fmt.Sprintf("The analysis program is left out: the calls are so irregular that their program text takes more than %d steps. cairn program TRACE finds and prints all of it, however long that takes.", steps)
		return Findings{Omitted: why, Notes: []string{why}}, nil
	}
	return Findings{Program: &found}, err
}
