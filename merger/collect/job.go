package collect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// Options of Merge.
type Options struct {
	CollectTimeout time.Duration // how long to wait for ranks that are still to come
	Pods           int           // pods of the job, the launcher's included; 0: those that left a sign
	Attempts       []Attempt
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

// Merge waits for the shards of a job, writes a trace for each run, and
// returns what the operator wants to know. Damaged shards are named in the
// result and the rest is merged.
func Merge(ctx context.Context, s store.Store, o Options) (*Result, error) {
	inv, late, err := wait(ctx, s, o)
	if err != nil {
		return nil, err
	}
	result := &Result{Lost: inv.lost(), Problems: inv.problems()}
	if late != "" {
		result.Problems = append([]string{late}, result.Problems...)
	}
	var runs []run
	worlds := inv.worlds()
	for _, world := range sortedKeys(worlds) {
		merged, problems, err := mergeWorld(ctx, s, worlds[world], o)
		if err != nil {
			return nil, err
		}
		result.Problems = append(result.Problems, problems...)
		runs = append(runs, merged...)
	}
	if len(runs) == 0 {
		if len(inv.manifests) > 0 || len(inv.damaged) > 0 {
			return result, ErrAllDamaged
		}
		result.Problems = append([]string{nothing}, result.Problems...)
		return result, nil
	}
	number(runs, o.Attempts)
	for i := range runs {
		summary, err := write(ctx, s, &runs[i])
		if err != nil {
			return nil, err
		}
		o.logf("%s: %d ranks, %d calls, %d bytes", summary.TraceURI, summary.Ranks, summary.Calls, summary.TraceBytes)
		result.Runs = append(result.Runs, *summary)
	}
	return result, nil
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

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
