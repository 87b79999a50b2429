package collect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// Options of Merge.
type Options struct {
	CollectTimeout time.Duration // how long to wait for missing ranks
	Pods           int           // pods of the job including the launcher's; 0: those that left a trace in the store
	Attempts       []Attempt
	FanIn          int                              // maximum number of traces that one step merges; below 2: unlimited
	CreatedBy      string                           // version of Cairn
	Logf           func(format string, args ...any) // progress messages for people; may be nil
}

func (o *Options) logf(format string, args ...any) {
	if o.Logf != nil {
		o.Logf(format, args...)
	}
}

// ErrAllDamaged is the error of Merge if there are shards but none can be read. Unlike errors of
// the store, it is permanent.
var ErrAllDamaged = errors.New("none of the shards can be read")

// nothing is the message for a job without shards. This is not an error: the job may not have used
// MPI.
const nothing = "no rank was traced: the store has no shard of this job"

// A run is one world, or one start of a world whose id was reused.
type run struct {
	content  *trace.Content
	attempt  int
	number   int
	start    int64
	problems []string
}

// note adds what was left out of the run to its trace and its manifest.
func (r *run) note(problems []string) {
	r.problems = problems
	meta := &r.content.Meta
	meta.Notes = slices.Concat(meta.Notes, problems)
	slices.Sort(meta.Notes)
	meta.Notes = slices.Compact(meta.Notes)
}

// Merge waits for the shards of a job, writes a trace for each run, and returns the result for the
// operator. Damaged shards are named in the result, and the rest is merged. If a world has more
// shards than Options.FanIn, nothing is merged yet: the result has the levels that are to follow
// (Step).
func Merge(ctx context.Context, s store.Store, o Options) (*Result, error) {
	inv, late, err := wait(ctx, s, o)
	if err != nil {
		return nil, err
	}
	p := newPlan(inv, late, o)
	levels := p.Levels()
	if len(levels) == 0 {
		return p.merge(ctx, s, 1, o)
	}
	// Until the end there is no index, rather than that of an earlier merge.
	if err := s.Delete(ctx, messages.IndexFile); err != nil {
		return nil, err
	}
	p.setDirectory()
	if err := shard.Write(ctx, s, planFile, p); err != nil {
		return nil, err
	}
	o.logf("%s: %v parts", s.URL(planFile), levels)
	return &Result{Levels: levels}, nil
}

// number sets the attempt of each run and its index in it, by start.
func number(runs []run, attempts []Attempt) {
	for i := range runs {
		runs[i].attempt = attemptOf(attempts, runs[i].start)
	}
	slices.SortFunc(runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.start, b.start), cmp.Compare(a.content.Meta.World, b.content.Meta.World))
	})
	for i := range runs {
		if i > 0 && runs[i].attempt == runs[i-1].attempt {
			runs[i].number = runs[i-1].number + 1
		}
		runs[i].content.Meta.Attempt, runs[i].content.Meta.Run = runs[i].attempt, runs[i].number
	}
}
