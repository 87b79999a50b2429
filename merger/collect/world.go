package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// mergeWorld reads the shards of one world. The merger keeps the longest
// version of each rank, so a partial shard counts only for ranks without a
// final one.
func mergeWorld(ctx context.Context, s store.Store, manifests []located, o Options) ([]run, []string, error) {
	var m merger.Merger
	var problems []string
	added := 0
	// a few shards are read and decoded ahead of the one that is being merged
	type result struct {
		content *trace.Content
		err     error
	}
	results := make([]chan result, len(manifests))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, readAhead)
	go func() {
		for i := range manifests {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				content, err := readShard(ctx, s, &manifests[i])
				results[i] <- result{content, err}
			}()
		}
	}()
	for i := range manifests {
		var r result
		select {
		case r = <-results[i]:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		err := r.err
		if err == nil {
			err = m.Add(r.content)
		}
		<-slots
		switch {
		case err == nil:
			added++
		case isStorage(err):
			return nil, nil, err
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		default:
			problems = append(problems, fmt.Sprintf("%s cannot be used, ranks %s of pod %s are missing: %v",
				s.URL(manifests[i].key()), rankList(manifests[i].Ranks), manifests[i].Pod, err))
		}
	}
	if added == 0 {
		return nil, problems, nil
	}
	merged, err := m.Finish(merger.Options{Final: true, CreatedBy: o.CreatedBy})
	if err != nil {
		return nil, append(problems, fmt.Sprintf("world %s cannot be merged: %v", manifests[0].World, err)), nil
	}
	var runs []run
	for _, content := range merged {
		start := int64(math.MaxInt64)
		for i := range content.Ranks {
			start = min(start, content.Ranks[i].StartRealtimeNS)
		}
		runs = append(runs, run{content: content, start: start, problems: problems})
	}
	return runs, problems, nil
}

// readAhead bounds the shards in memory beside what is merged already.
const readAhead = 4

// isStorage tells whether err is the store's fault, not that of what it holds:
// the whole step is then to be repeated.
func isStorage(err error) bool {
	var e *store.Error
	return errors.As(err, &e) && e.Reason != store.NotFound
}

// readShard reads the shard of a manifest. A sidecar may replace both between
// two reads, so a missing shard is looked for once more under its new name.
func readShard(ctx context.Context, s store.Store, m *located) (*trace.Content, error) {
	content, err := ReadContent(ctx, s, m.key())
	if !store.IsNotFound(err) {
		return content, err
	}
	if err := shard.Read(ctx, s, m.directory+shard.ManifestFile, &m.Manifest); err != nil {
		return nil, err
	}
	return ReadContent(ctx, s, m.key())
}

// ReadContent reads a whole trace from a store.
func ReadContent(ctx context.Context, s store.Store, key string) (*trace.Content, error) {
	object, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer object.Close()
	raw, err := io.ReadAll(object)
	if err != nil {
		return nil, err
	}
	r, err := trace.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	return r.Content()
}

func rankList(ranks []shard.Rank) string {
	list := make([]int, len(ranks))
	for i := range ranks {
		list[i] = ranks[i].Rank
	}
	slices.Sort(list)
	return trace.NewRankList(list).String()
}
