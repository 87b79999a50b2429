package program

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// Limits of the search for loops, of the alignment of programs, and of the text. Findings.Notes
// reports what they leave out.
const (
	maxLines = 1 << 20 // of a program, unless Options have fewer; total of all ranks before alignment

	maxItems     = 4_000 // of a level; rules that make it longer become parts
	smallestPart = 8     // minimum length of a part

	maxPeriod = 256     // maximum body of a loop that is searched for where the grammar has none
	maxPasses = 64      // over a level that is longer than maxPartial
	maxCycle  = 1 << 16 // trip counts that are stored for one loop
	maxCalls  = 1 << 20 // signatures that are stored for one call

	maxPartial  = 1024 // items of a level in which loops with differing iterations are searched for
	maxVariants = 64   // different iterations of such a loop
	maxGrowth   = 1.6  // of the common body, relative to the mean iteration …
	pairGrowth  = 1.4  // … and for only two iterations, which could be alike by chance

	readable    = 24      // items; a program that is no longer needs no second try without arguments
	maxExpanded = 1 << 22 // calls of all classes that are then visited one by one

	maxAlignment    = 16 << 20 // pairs of items that are compared to align two sequences
	maxLevelPairs   = 512      // the same for all loops of a level, per item of the level …
	leastPairs      = 1 << 18  // … with this minimum
	maxOverlayPairs = 1 << 27  // the same for all programs of all ranks
)

// ErrTooIrregular is the error of Analyze if Options.MaxSteps are not enough.
var ErrTooIrregular = errors.New("the calls are too irregular for a program text of limited work")

// A search counts the steps of finding a program, so that they can be limited, and ends when it is
// canceled.
type search struct {
	ctx        context.Context
	steps      int // items visited, compared or copied, and values described
	limit      int // maximum number of steps
	asked      int // steps at the last check of ctx
	err        error
	overlay    int // pairs that may still be compared to align programs
	room       int // remaining number of nodes
	unfinished int // levels in which a limit ended the search for loops
	apart      int // sequences of different ranks that were not compared
}

func newSearch(ctx context.Context) *search {
	return &search{ctx: ctx, limit: math.MaxInt, overlay: maxOverlayPairs, room: maxLines}
}

// step counts steps and reports whether to continue: the search has neither been canceled nor
// reached its limit.
func (s *search) step(n int) bool {
	const often = 1 << 16
	if s.steps += n; s.steps > s.limit && s.err == nil {
		s.err = ErrTooIrregular
	}
	if s.steps-s.asked >= often && s.err == nil {
		s.asked = s.steps
		s.err = s.ctx.Err()
	}
	return s.err == nil
}

// notes reports what limits have left out.
func (s *search) notes() []string {
	var notes []string
	if s.unfinished > 0 {
		notes = append(notes, fmt.Sprintf("%s too irregular to look for all loops: the search ended after %d passes, or %d comparisons for each line.",
			wording.Count(s.unfinished, "sequence of calls is", "sequences of calls are"), maxPasses, maxLevelPairs))
	}
	if s.apart > 0 {
		notes = append(notes, fmt.Sprintf("%s not compared with those of other ranks, after %d comparisons (%d for two sequences): they stand one after the other.",
			wording.Count(s.apart, "sequence of calls was", "sequences of calls were"), maxOverlayPairs, maxAlignment))
	}
	return notes
}
