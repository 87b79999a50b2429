package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/version"
	"github.com/cairn-mpi/cairn/trace"
)

// Names of the analyses whose findings a report is made of.
const (
	CriticalPath = "critical-path"
	Clusters     = "clusters"
)

// A Job is what only the caller knows of the run.
type Job struct {
	Name     string // namespace/name
	UID      string
	TraceURI string
	Images   map[string]string // of the application's containers, by pod; as the pods name them

	// Asked are the analyses that the job wanted; nil: not known, all count as asked for. Failed says why one failed.
	Asked  []string
	Failed map[string]string
	// RunSeconds and Efficiency are what the merge found, for a report without a critical path; 0, nil: not known.
	RunSeconds float64
	Efficiency *float64
}

// Assemble puts findings together, each as the JSON that its analysis wrote, by the analysis's name. Those that
// are not there, or that this version cannot read, leave a gap that is noted; without the critical path there is no verdict.
func Assemble(t timeline.Trace, findings map[string][]byte, job Job) (*Report, error) {
	r := &Report{SchemaVersion: SchemaVersion, Clusters: []clusters.Cluster{}, Leads: []int{}, ClusterPhases: []clusters.Phase{}, Provenance: provenance(t, job)}
	var path criticalpath.Findings
	if missing := decode(CriticalPath, findings, &path, criticalpath.SchemaVersion, job); missing != nil {
		r.withoutPath(t, *missing, job)
	} else {
		r.takePath(&path)
	}
	if r.Window == nil { // the operating system counts over all of the run
		r.RankCPUs = cpus.OfRanks(t)
	}
	var groups clusters.Findings
	if missing := decode(Clusters, findings, &groups, clusters.SchemaVersion, job); missing != nil {
		r.Missing = append(r.Missing, *missing)
		if missing.Asked {
			r.Notes = append(r.Notes, "The analysis of clusters has no findings"+missing.because()+".")
		}
		return r, nil
	}
	r.Clusters, r.Topology, r.Program = groups.Clusters, groups.Topology, groups.Program
	r.Leads, r.ClusterPhases, r.Placement = groups.Leads, groups.Phases, groups.Placement
	r.Notes = append(r.Notes, groups.Notes...)
	return r, nil
}

// takePath takes over what the critical path's analysis found.
func (r *Report) takePath(path *criticalpath.Findings) {
	r.Verdict, r.RunSeconds, r.Path, r.Efficiency = path.Verdict, path.RunSeconds, path.Path, path.Efficiency
	r.CPUs, r.Stopped = path.CPUs, path.Stopped
	r.Window = path.Window
	r.Ranks, r.Functions, r.CallSites, r.Computation = path.Ranks, path.Functions, path.CallSites, path.Computation
	r.WaitStates, r.WhatIf, r.Strips, r.Clock, r.Notes = path.WaitStates, path.WhatIf, path.Strips, path.Clock, path.Notes
	r.Waits, r.RootCauses = path.Waits, path.RootCauses
	r.Phases, r.Profile = path.Phases, path.Profile
	r.Ledger, r.Detail, r.RankActivities = path.Ledger, path.Detail, path.RankActivities
}

// decode reads the findings of an analysis; not nil: there are none to be read.
func decode(name string, findings map[string][]byte, into any, known int, job Job) *MissingAnalysis {
	missing := job.missing(name)
	raw, there := findings[name]
	if !there {
		return &missing
	}
	if err := read(name, raw, into, known); err != nil {
		missing.Asked, missing.Why = true, err.Error()
		return &missing
	}
	return nil
}

// read decodes findings that this version understands.
func read(name string, raw []byte, into any, known int) error {
	var head struct {
		SchemaVersion int `json:"schema_version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("findings of %s: %w", name, err)
	}
	if head.SchemaVersion != known {
		return fmt.Errorf("findings of %s have version %d, this cairn reads %d", name, head.SchemaVersion, known)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("findings of %s: %w", name, err)
	}
	return nil
}

func provenance(t timeline.Trace, job Job) Provenance {
	m := t.Meta()
	p := Provenance{
		Job: job.Name, UID: job.UID, TraceURI: job.TraceURI, Attempt: m.Attempt, Run: m.Run, World: m.World, Ranks: m.WorldSize,
		MissingRanks: m.MissingRanks.String(), Implementation: m.Implementation, Version: m.Version,
		Timing: m.Timing.String(), CallSites: m.CallSites, TracedBy: m.CreatedBy, AnalyzedBy: version.Version, Pods: []Host{},
	}
	var early, stopped []int
	start := int64(0)
	ranks := map[Host][]int{}
	for _, r := range t.Ranks().All() {
		p.Dropped += r.Dropped
		switch {
		case r.TracingStopped():
			stopped = append(stopped, r.Rank)
		case r.EndedEarly != "":
			early = append(early, r.Rank)
		}
		if r.StartRealtimeNS != 0 && (start == 0 || r.StartRealtimeNS < start) {
			start = r.StartRealtimeNS
		}
		if p.Executable == "" {
			p.Executable = r.Executable
		}
		host := Host{Pod: r.Pod, Node: r.Node, Host: r.Host, Image: job.Images[r.Pod]}
		ranks[host] = append(ranks[host], r.Rank)
	}
	for host, list := range ranks {
		host.Ranks = trace.NewRankList(list).String()
		p.Pods = append(p.Pods, host)
	}
	slices.SortFunc(p.Pods, func(a, b Host) int {
		a.Ranks, b.Ranks = "", ""
		return cmp.Compare(ranks[a][0], ranks[b][0])
	})
	for _, thread := range t.Threads().All() {
		p.Calls += thread.Calls
	}
	if online := clusters.WhileRunning(t); online != nil {
		p.Clustering = online.Text(p.Calls)
	}
	p.EndedEarly, p.TracingStopped = trace.NewRankList(early).String(), trace.NewRankList(stopped).String()
	if start != 0 {
		p.Start = time.Unix(0, start).UTC().Format(time.RFC3339)
	}
	return p
}
