package collect

import (
	"context"
	"fmt"
	"math"
	"path"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// RunManifest describes a merged run. It is written after everything else of the run.
type RunManifest struct {
	World                     string   `json:"world"`
	Attempt                   int      `json:"attempt"`
	Run                       int      `json:"run"`
	StartRealtimeNS           int64    `json:"start_realtime_ns"`
	WorldSize                 int      `json:"world_size"`
	Ranks                     int      `json:"ranks"`
	MissingRanks              string   `json:"missing_ranks"`
	EndedEarly                string   `json:"ended_early"` // ranks that did not complete MPI_Finalize
	Calls                     uint64   `json:"calls"`
	CallsLost                 uint64   `json:"calls_lost,omitempty"` // calls that were not recorded
	LostWhy                   string   `json:"lost_why,omitempty"`
	CallsCoarse               uint64   `json:"calls_coarse,omitempty"` // calls for which only sums of times are known
	CoarseRanks               string   `json:"coarse_ranks,omitempty"`
	Trace                     string   `json:"trace"` // file name, in the directory of the manifest
	TraceBytes                int64    `json:"trace_bytes"`
	TraceSHA256               string   `json:"trace_sha256"`
	RunTimeSeconds            float64  `json:"run_time_seconds"`
	ParallelEfficiencyPercent *int     `json:"parallel_efficiency_percent,omitempty"`
	Problems                  []string `json:"problems,omitempty"`
	CreatedBy                 string   `json:"created_by"`
}

// Names of the objects of a run.
const (
	TraceFile       = messages.TraceFile
	RunManifestFile = "manifest.json"
)

func write(ctx context.Context, s store.Store, r *run) (*messages.Run, error) {
	var encoded pieces
	if err := trace.Write(&encoded, r.content); err != nil {
		return nil, fmt.Errorf("run %d/%d cannot be written: %w", r.attempt, r.number, err)
	}
	id := messages.RunID(r.attempt, r.number)
	key := path.Join(id, TraceFile)
	if err := clearRun(ctx, s, id); err != nil {
		return nil, err
	}
	if err := s.Put(ctx, key, encoded.reader(), encoded.size); err != nil {
		return nil, err
	}
	summary := merger.Summarize(r.content)
	m := RunManifest{
		World: r.content.Meta.World, Attempt: r.attempt, Run: r.number, StartRealtimeNS: r.start,
		WorldSize: r.content.Meta.WorldSize, Ranks: summary.Ranks, MissingRanks: summary.Missing.String(), EndedEarly: endedEarly(r.content), Calls: summary.Calls,
		CallsLost: summary.CallsLost, LostWhy: summary.LostWhy, CallsCoarse: summary.CallsCoarse, CoarseRanks: summary.CoarseRanks.String(), Trace: TraceFile, TraceBytes: encoded.size, TraceSHA256: encoded.sha256(),
		RunTimeSeconds: summary.RunTime, ParallelEfficiencyPercent: percent(summary.ParallelEfficiency),
		Problems: r.problems, CreatedBy: r.content.Meta.CreatedBy,
	}
	if err := shard.Write(ctx, s, path.Join(id, RunManifestFile), &m); err != nil {
		return nil, err
	}
	summarized := m.Summary(s)
	return &summarized, nil
}

// Summary returns the run as it appears in messages.
func (m *RunManifest) Summary(s store.Store) messages.Run {
	id := messages.RunID(m.Attempt, m.Run)
	return messages.Run{
		ID: id, Attempt: m.Attempt, Run: m.Run, Ranks: m.WorldSize, MissingRanks: m.MissingRanks, EndedEarly: m.EndedEarly,
		Calls: m.Calls, CallsLost: m.CallsLost, LostWhy: m.LostWhy, CallsCoarse: m.CallsCoarse, CoarseRanks: m.CoarseRanks, TraceBytes: m.TraceBytes,
		ParallelEfficiencyPercent: m.ParallelEfficiencyPercent, TraceURI: s.URL(path.Join(id, TraceFile)),
	}
}

// clearRun removes what an earlier merge and its analyses left of a run: findings, clocks and
// reports of another trace would be taken for those of this one. The manifest goes first, since a
// run with a manifest is complete.
func clearRun(ctx context.Context, s store.Store, id string) error {
	objects, err := s.List(ctx, id+"/")
	if err != nil {
		if store.IsNotFound(err) {
			return nil
		}
		return err
	}
	if err := s.Delete(ctx, path.Join(id, RunManifestFile)); err != nil {
		return err
	}
	for _, object := range objects {
		if object.Key == path.Join(id, TraceFile) { // will be replaced
			continue
		}
		if err := s.Delete(ctx, object.Key); err != nil {
			return err
		}
	}
	return nil
}

// endedEarly lists the ranks that did not complete MPI_Finalize, as far as is known.
func endedEarly(c *trace.Content) string {
	var early []int
	for _, r := range c.Ranks.All() {
		if r.EndedEarly != "" && !r.TracingStopped() {
			early = append(early, r.Rank)
		}
	}
	return trace.NewRankList(early).String()
}

// percent rounds x to percent; nil means unknown.
func percent(x float64) *int {
	if x < 0 {
		return nil
	}
	n := int(math.Round(100 * x))
	return &n
}
