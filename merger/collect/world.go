package collect

import (
	"context"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/merger"
)

// mergeWorld merges the inputs of one world into its runs. The merger keeps the
// longest version of each rank, so a partial shard counts only for ranks
// without a final one.
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
		for i := range content.Ranks {
			start = min(start, content.Ranks[i].StartRealtimeNS)
		}
		runs = append(runs, run{content: content, start: start})
	}
	return runs, problems, nil
}
