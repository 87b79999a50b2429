package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/version"
	"github.com/cairn-mpi/cairn/trace"
)

// A Job is what the caller knows of the run beyond the trace.
type Job struct {
	Name     string // namespace/name
	UID      string
	TraceURI string
	Images   map[string]string // of the application's containers, by pod, as in the pods' specifications

	// Asked are the analyses that the job requested; nil: unknown, all count as requested. Failed
	// has the reason of each that failed.
	Asked  []string
	Failed map[string]string
	// RunSeconds and Efficiency are the merge's results, for a report without a critical path; 0,
	// nil: unknown.
	RunSeconds float64
	Efficiency *float64
}

// Assemble combines the findings of analyses, each as the JSON that it wrote, by its name. Findings
// that are missing, or that this version cannot read, leave a gap that is noted. Without the
// verdict's analysis there is no verdict.
func Assemble(t timeline.Trace, list []analysis.Any, findings map[string][]byte, job Job) *Report {
	r := &Report{list: list, Run: section.Run{Provenance: provenance(t, job)}, Notes: []string{}}
	for _, a := range list {
		found, missing := job.decode(a, findings)
		if missing != nil {
			r.Missing = append(r.Missing, *missing)
			continue
		}
		r.Put(found)
		r.Notes = append(r.Notes, notesOf(found)...)
	}
	r.fillGaps(t, job)
	r.Named = named(r)
	return r
}

// decode reads the findings of an analysis; missing is the reason if there are none.
func (j *Job) decode(a analysis.Any, findings map[string][]byte) (found any, missing *MissingAnalysis) {
	m := j.missing(a.Name())
	raw, there := findings[a.Name()]
	if !there {
		return nil, &m
	}
	found, err := a.Decode(raw)
	if err != nil {
		m.Asked, m.Why = true, err.Error()
		return nil, &m
	}
	return found, nil
}
func provenance(t timeline.Trace, job Job) section.Provenance {
	m := t.Meta()
	p := section.Provenance{
		Job: job.Name, UID: job.UID, TraceURI: job.TraceURI, Attempt: m.Attempt, Run: m.Run, World: m.World, Ranks: m.WorldSize,
		MissingRanks: m.MissingRanks.String(), Implementation: m.Implementation, Version: m.Version,
		Timing: m.Timing.String(), CallSites: m.CallSites, TracedBy: m.CreatedBy, AnalyzedBy: version.Version, Pods: []section.Host{},
	}
	var early, stopped []int
	start := int64(0)
	ranks := map[section.Host][]int{}
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
		host := section.Host{Pod: r.Pod, Node: r.Node, Host: r.Host, Image: job.Images[r.Pod]}
		ranks[host] = append(ranks[host], r.Rank)
	}
	for host, list := range ranks {
		host.Ranks = trace.NewRankList(list).String()
		p.Pods = append(p.Pods, host)
	}
	slices.SortFunc(p.Pods, func(a, b section.Host) int {
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
