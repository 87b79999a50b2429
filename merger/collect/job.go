package collect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
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

// mergeWorld reads the shards of one world. The merger keeps the longest
// version of each rank, so a partial shard counts only for ranks without a
// final one.
func mergeWorld(ctx context.Context, s store.Store, manifests []located, o Options) ([]run, []string, error) {
	var m merger.Merger
	var problems []string
	added := 0
	for i := range manifests {
		content, err := readShard(ctx, s, &manifests[i])
		if err == nil {
			err = m.Add(content)
		}
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

// RunManifest describes a merged run; it is written after everything else of it.
type RunManifest struct {
	World                     string   `json:"world"`
	Attempt                   int      `json:"attempt"`
	Run                       int      `json:"run"`
	StartRealtimeNS           int64    `json:"start_realtime_ns"`
	WorldSize                 int      `json:"world_size"`
	Ranks                     int      `json:"ranks"`
	MissingRanks              string   `json:"missing_ranks"`
	Calls                     uint64   `json:"calls"`
	Trace                     string   `json:"trace"` // file name, beside the manifest
	TraceBytes                int64    `json:"trace_bytes"`
	TraceSHA256               string   `json:"trace_sha256"`
	RunTimeSeconds            float64  `json:"run_time_seconds"`
	ParallelEfficiencyPercent *int     `json:"parallel_efficiency_percent,omitempty"`
	Problems                  []string `json:"problems,omitempty"`
	CreatedBy                 string   `json:"created_by"`
}

// Names of the objects of a run.
const (
	TraceFile       = "trace.cairn"
	RunManifestFile = "manifest.json"
)

func write(ctx context.Context, s store.Store, r *run) (*RunResult, error) {
	var encoded bytes.Buffer
	if err := trace.Write(&encoded, r.content); err != nil {
		return nil, fmt.Errorf("run %d/%d cannot be written: %w", r.attempt, r.number, err)
	}
	id := path.Join(strconv.Itoa(r.attempt), strconv.Itoa(r.number))
	key := path.Join(id, TraceFile)
	if err := s.Put(ctx, key, bytes.NewReader(encoded.Bytes()), int64(encoded.Len())); err != nil {
		return nil, err
	}
	summary := merger.Summarize(r.content)
	sum := sha256.Sum256(encoded.Bytes())
	m := RunManifest{
		World: r.content.Meta.World, Attempt: r.attempt, Run: r.number, StartRealtimeNS: r.start,
		WorldSize: r.content.Meta.WorldSize, Ranks: summary.Ranks, MissingRanks: summary.Missing.String(), Calls: summary.Calls,
		Trace: TraceFile, TraceBytes: int64(encoded.Len()), TraceSHA256: hex.EncodeToString(sum[:]),
		RunTimeSeconds: summary.RunTime, ParallelEfficiencyPercent: percent(summary.ParallelEfficiency),
		Problems: r.problems, CreatedBy: r.content.Meta.CreatedBy,
	}
	if err := shard.Write(ctx, s, path.Join(id, RunManifestFile), &m); err != nil {
		return nil, err
	}
	return &RunResult{
		ID: id, Attempt: r.attempt, Run: r.number, Ranks: m.WorldSize, MissingRanks: m.MissingRanks, Calls: m.Calls,
		TraceBytes: m.TraceBytes, ParallelEfficiencyPercent: m.ParallelEfficiencyPercent, TraceURI: s.URL(key),
	}, nil
}

// percent rounds; nil means unknown.
func percent(x float64) *int {
	if x < 0 {
		return nil
	}
	n := int(math.Round(100 * x))
	return &n
}

func rankList(ranks []shard.Rank) string {
	list := make([]int, len(ranks))
	for i := range ranks {
		list[i] = ranks[i].Rank
	}
	slices.Sort(list)
	return trace.NewRankList(list).String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
