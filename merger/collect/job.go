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
	CollectTimeout time.Duration // how long to wait for ranks that are still to come
	Pods           int           // pods of the job, the launcher's included; 0: those that left a sign
	Attempts       []Attempt
	FanIn          int                              // most traces that one step merges; below 2: all
	CreatedBy      string                           // version of Cairn
	Logf           func(format string, args ...any) // progress, for people; nil: none
}

func (o *Options) logf(format string, args ...any) {
	if o.Logf != nil {
		o.Logf(format, args...)
	}
}

// ErrAllDamaged is the error of Merge, beside those of the store, when there
// are shards but none can be read: bad data, which no repetition mends.
var ErrAllDamaged = errors.New("none of the shards can be read")

// nothing is what the result says of a job without any shard. That is no
// error: the job may not have used MPI.
const nothing = "no rank was traced: the store has no shard of this job"

// A run is one world, or one start of a world whose id was used again.
type run struct {
	content  *trace.Content
	attempt  int
	number   int
	start    int64
	problems []string
}

// note adds what was left out of the run to what its trace and manifest say.
func (r *run) note(problems []string) {
	r.problems = problems
	meta := &r.content.Meta
	meta.Notes = slices.Concat(meta.Notes, problems)
	slices.Sort(meta.Notes)
	meta.Notes = slices.Compact(meta.Notes)
}

// Merge waits for the shards of a job, writes a trace for each run, and
// returns what the operator wants to know. Damaged shards are named in the
// result and the rest is merged. If a world has more shards than Options.FanIn,
// nothing is merged yet: the result says which levels are to follow (Step).
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
	// who looks for the runs meanwhile finds none, rather than those of an earlier merge
	if err := s.Delete(ctx, messages.IndexFile); err != nil {
		return nil, err
	}
	p.place()
	if err := shard.Write(ctx, s, planFile, p); err != nil {
		return nil, err
	}
	o.logf("%s: %v parts", s.URL(planFile), levels)
	return &Result{Levels: levels}, nil
}

// number gives runs their attempt and their place in it, by start.
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
