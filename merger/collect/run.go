package collect

import (
	"context"
	"fmt"
	"math"
	"path"
	"strconv"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// RunManifest describes a merged run; it is written after everything else of it.
type RunManifest struct {
	World                     string   `json:"world"`
	Attempt                   int      `json:"attempt"`
	Run                       int      `json:"run"`
	StartRealtimeNS           int64    `json:"start_realtime_ns"`
	WorldSize                 int      `json:"world_size"`
	Ranks                     int      `json:"ranks"`
	MissingRanks              string   `json:"missing_ranks"`
	EndedEarly                string   `json:"ended_early"` // ranks that did not get through MPI_Finalize
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
	var encoded pieces
	if err := trace.Write(&encoded, r.content); err != nil {
		return nil, fmt.Errorf("run %d/%d cannot be written: %w", r.attempt, r.number, err)
	}
	id := path.Join(strconv.Itoa(r.attempt), strconv.Itoa(r.number))
	key := path.Join(id, TraceFile)
	if err := s.Put(ctx, key, encoded.reader(), encoded.size); err != nil {
		return nil, err
	}
	summary := merger.Summarize(r.content)
	m := RunManifest{
		World: r.content.Meta.World, Attempt: r.attempt, Run: r.number, StartRealtimeNS: r.start,
		WorldSize: r.content.Meta.WorldSize, Ranks: summary.Ranks, MissingRanks: summary.Missing.String(), EndedEarly: endedEarly(r.content), Calls: summary.Calls,
		Trace: TraceFile, TraceBytes: encoded.size, TraceSHA256: encoded.sha256(),
		RunTimeSeconds: summary.RunTime, ParallelEfficiencyPercent: percent(summary.ParallelEfficiency),
		Problems: r.problems, CreatedBy: r.content.Meta.CreatedBy,
	}
	if err := shard.Write(ctx, s, path.Join(id, RunManifestFile), &m); err != nil {
		return nil, err
	}
	return &RunResult{
		ID: id, Attempt: r.attempt, Run: r.number, Ranks: m.WorldSize, MissingRanks: m.MissingRanks, EndedEarly: m.EndedEarly, Calls: m.Calls,
		TraceBytes: m.TraceBytes, ParallelEfficiencyPercent: m.ParallelEfficiencyPercent, TraceURI: s.URL(key),
	}, nil
}

// endedEarly lists the ranks that did not get through MPI_Finalize.
func endedEarly(c *trace.Content) string {
	var early []int
	for _, r := range c.Ranks.All() {
		if r.EndedEarly != "" {
			early = append(early, r.Rank)
		}
	}
	return trace.NewRankList(early).String()
}

// percent rounds; nil means unknown.
func percent(x float64) *int {
	if x < 0 {
		return nil
	}
	n := int(math.Round(100 * x))
	return &n
}
