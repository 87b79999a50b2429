package program

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// Limits of the search for loops, of laying programs over one another, and of the text. What they leave out is said in
// Findings.Notes.
const (
	maxLines = 1 << 20 // of a program, unless Options say less; those of all ranks before they are laid over one another

	maxItems     = 4_000 // of a level; rules that make it longer become parts
	smallestPart = 8     // no part is shorter

	maxPeriod = 256     // items of the body of a loop that is looked for where the grammar has none
	maxPasses = 64      // over a level that is longer than maxPartial
	maxCycle  = 1 << 16 // trip counts that are written down for one loop
	maxCalls  = 1 << 20 // signatures that are written down for one call

	maxPartial  = 1024 // items of a level in which loops are looked for whose iterations differ
	maxVariants = 64   // different iterations of such a loop
	maxGrowth   = 1.6  // of the common body, compared with the mean iteration …
	pairGrowth  = 1.4  // … and of a body of which there are but two: they could be alike by chance

	readable    = 24      // items; a program that is no longer needs no second try, without arguments
	maxExpanded = 1 << 22 // calls of all classes that are looked at one by one then

	maxAlignment    = 16 << 20 // pairs of items that are compared to lay two sequences over one another
	maxLevelPairs   = 512      // the same for all loops of a level, for each of its items …
	leastPairs      = 1 << 18  // … and in any case
	maxOverlayPairs = 1 << 27  // the same for all programs of all ranks
)

// A search is what it takes to find a program: it counts steps, so that they can be limited, and ends when it is
// canceled.
type search struct {
	ctx        context.Context
	steps      int // items that were looked at, compared or copied
	asked      int // the steps at which ctx was asked last
	err        error
	overlay    int // pairs that may still be compared to lay programs over one another
	room       int // for nodes
	unfinished int // levels in which a limit has ended the search for loops
	apart      int // sequences of different ranks that were not compared
}

func newSearch(ctx context.Context) *search {
	return &search{ctx: ctx, overlay: maxOverlayPairs, room: maxLines}
}

// step counts steps and reports whether to go on: the search has not been canceled.
func (s *search) step(n int) bool {
	const often = 1 << 16
	s.steps += n
	if s.steps-s.asked >= often && s.err == nil {
		s.asked = s.steps
		s.err = s.ctx.Err()
	}
	return s.err == nil
}

// notes say what limits have left out.
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
