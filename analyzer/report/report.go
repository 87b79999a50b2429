package report

import (
	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	detailfindings "github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	efficiencyfindings "github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/strips"
	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/detail"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/stopped"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// SchemaVersion is that of report.json: it grows when a key changes its meaning or goes.
const SchemaVersion = 1

// A Report is report.json.
type Report struct {
	SchemaVersion int                           `json:"schema_version"`
	Verdict       verdict.Verdict               `json:"verdict"`
	Stopped       *stopped.Findings             `json:"stopped"` // how the run ended if not all ranks came to MPI_Finalize; null if they did
	RunSeconds    float64                       `json:"run_seconds"`
	Window        *run.Window                   `json:"window,omitempty"` // only this part of the run was looked at
	Path          *path.Path                    `json:"critical_path"`    // null where times of single calls were not kept
	Clusters      []clusters.Cluster            `json:"clusters"`
	Leads         []int                         `json:"leads"`          // ranks that stand for all: see clusters.Findings
	ClusterPhases []clusters.Phase              `json:"cluster_phases"` // groups in each phase
	Topology      *topology.Findings            `json:"topology"`       // null if the analysis did not run
	Program       *program.Findings             `json:"program"`        // likewise
	Placement     *placement.Findings           `json:"placement"`      // likewise
	Efficiency    efficiencyfindings.Efficiency `json:"efficiency"`
	CPUs          *cpus.CPUs                    `json:"cpus"` // null where the operating system was not asked twice
	Ranks         []ranks.RankTime              `json:"ranks"`
	Functions     []ranks.FunctionTime          `json:"functions"`
	CallSites     []ranks.SiteTime              `json:"call_sites"`
	Computation   []ranks.RegionTime            `json:"computation"`
	WaitStates    []waits.WaitTime              `json:"wait_states" schema:"nullable"` // likewise
	Waits         *waits.WaitBreakdown          `json:"waits"`                         // likewise
	RootCauses    *rootcauses.RootCauses        `json:"root_causes"`                   // likewise
	WhatIf        []whatif.WhatIf               `json:"what_if" schema:"nullable"`     // likewise
	Phases        *phases.Findings              `json:"phases"`                        // null where times of single calls were not kept
	Profile       *profile.Findings             `json:"profile"`                       // likewise
	Strips        *strips.Strips                `json:"strips"`                        // likewise
	Clock         clock.Findings                `json:"clock"`
	// Ledger is what the time of all ranks went to; null where it is not known.
	Ledger *verdict.Ledger `json:"ledger"`
	// Detail is a window of the run call by call; null where nobody waited, or times of single calls were not kept.
	Detail *detail.Detail `json:"detail"`
	// RankActivities are those of at most 64 ranks, the ones that the verdict names first; null where times of single calls
	// were not kept.
	RankActivities []detailfindings.RankActivities `json:"rank_activities" schema:"nullable"`
	// RankCPUs are those of ranks for which the operating system was asked twice; null where a part of the run was looked at.
	RankCPUs []cpus.RankCPU `json:"rank_cpus" schema:"nullable"`

	// Missing are the analyses whose findings the report lacks; left out if there are none.
	Missing []MissingAnalysis `json:"missing_analyses,omitempty"`

	Provenance Provenance `json:"provenance"`
	Notes      []string   `json:"notes"`
}

// Provenance says what the report is about and how it came to be.
type Provenance struct {
	Job          string `json:"job"` // namespace/name, "" outside Kubernetes
	UID          string `json:"uid"`
	Attempt      int    `json:"attempt"`
	Run          int    `json:"run"`
	World        string `json:"world"`
	Ranks        int    `json:"ranks"` // size of the world
	MissingRanks string `json:"missing_ranks"`
	EndedEarly   string `json:"ended_early"` // ranks
	// TracingStopped are the ranks whose later calls were not recorded; left out if there are none.
	TracingStopped string `json:"tracing_stopped,omitempty"`
	Pods           []Host `json:"pods"` // or hosts, outside Kubernetes
	Executable     string `json:"executable"`
	Implementation string `json:"implementation"`
	Version        string `json:"version"`
	Start          string `json:"start"` // RFC 3339, UTC
	Calls          uint64 `json:"calls"`
	Dropped        uint64 `json:"dropped_records"`
	Timing         string `json:"timing"`
	CallSites      string `json:"call_sites"`
	Clustering     string `json:"clustering"`  // what clustering the ranks while they ran cost and saved; "" where they were not
	TracedBy       string `json:"traced_by"`   // version of Cairn
	AnalyzedBy     string `json:"analyzed_by"` // version of Cairn
	TraceURI       string `json:"trace_uri"`
}

// A Host is a pod, or a host outside Kubernetes, and the ranks that it ran.
type Host struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Host  string `json:"host"`
	Image string `json:"image"` // of the application's container; "" outside Kubernetes
	Ranks string `json:"ranks"`
}
