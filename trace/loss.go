package trace

import (
	"slices"
	"strings"
)

// What EndedEarly says of a rank whose tracing stopped before it ended: TracingStopped, the last call that was recorded,
// ": " and the reason. The rank itself came to MPI_Finalize, as far as anybody knows. Where it is known that it did not,
// the text begins with EndedUntraced.
const (
	TracingStopped = "tracing stopped after "
	EndedUntraced  = "before MPI_Finalize, " + TracingStopped
)

// TracingStopped reports whether all that ended early is the rank's tracing.
func (r *Rank) TracingStopped() bool { return strings.HasPrefix(r.EndedEarly, TracingStopped) }

// WhyTracingStopped is the reason, "" where none is known or tracing did not stop.
func (r *Rank) WhyTracingStopped() string {
	_, after, found := strings.Cut(r.EndedEarly, TracingStopped)
	if !found {
		return ""
	}
	_, why, _ := strings.Cut(after, ": ")
	return why
}

// A Loss is calls that were made and not recorded, for one reason.
type Loss struct {
	Calls uint64
	Ranks RankList
	Why   string // a clause: "the spool limit of 1048576 bytes was reached"
}

// Reasons for what was lost without a word from the tracer.
const (
	lostInPassing = "the tracer had no room for them, or was interrupted by a signal handler"
	lostUnknown   = "tracing stopped"
)

// Losses are the calls that were not recorded, by reason; those that cost most calls come first.
func (t *RankTable) Losses() []Loss {
	calls, ranks := map[string]uint64{}, map[string][]int{}
	for _, r := range t.All() {
		if r.Dropped == 0 {
			continue
		}
		why := lostInPassing
		if strings.Contains(r.EndedEarly, TracingStopped) {
			why = lostUnknown
			if reason := r.WhyTracingStopped(); reason != "" {
				why = strings.Replace(reason, " is reached", " was reached", 1)
			}
		}
		calls[why] += r.Dropped
		ranks[why] = append(ranks[why], r.Rank)
	}
	var losses []Loss
	for why, n := range calls {
		losses = append(losses, Loss{n, NewRankList(ranks[why]), why})
	}
	slices.SortFunc(losses, func(a, b Loss) int {
		if a.Calls != b.Calls {
			if a.Calls > b.Calls {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Why, b.Why)
	})
	return losses
}
