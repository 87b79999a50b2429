package collect

import (
	"context"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// mergeWorld merges the inputs of one world into its runs. The merger keeps the longest version of
// each rank, so a partial shard counts only for ranks without a final one.
func mergeWorld(ctx context.Context, world string, inputs []input, o Options) ([]run, []string, error) {
	var m merger.Merger
	added, problems, err := feed(ctx, &m, inputs)
	if err != nil || added == 0 {
		return nil, problems, err
	}
	merged, err := m.Finish(merger.Options{Final: true, CreatedBy: o.CreatedBy})
	if err != nil {
		return nil, append(problems, fmt.Sprintf("world %s cannot be merged: %v", world, err)), nil
	}
	var runs []run
	for _, content := range merged {
		start := int64(math.MaxInt64)
		for _, ns := range content.Ranks.Starts().All() {
			start = min(start, ns)
		}
		runs = append(runs, run{content: content, start: start})
	}
	return runs, problems, nil
}

// joinWorlds finds out which worlds of an attempt met. The runs are in the order of attempts. Runs
// are useful without it, so its errors are only reported.
func joinWorlds(runs []run) []string {
	var problems []string
	for from := 0; from < len(runs); {
		to := from
		var contents []*trace.Content
		for ; to < len(runs) && runs[to].attempt == runs[from].attempt; to++ {
			contents = append(contents, runs[to].content)
		}
		if err := merger.JoinWorlds(contents); err != nil {
			problems = append(problems, fmt.Sprintf("worlds cannot be joined: %v", err))
		}
		from = to
	}
	return problems
}
