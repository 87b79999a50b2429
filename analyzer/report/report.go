package report

import (
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
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
	SchemaVersion int                         `json:"schema_version"`
	Verdict       verdict.Verdict             `json:"verdict"`
	Stopped       *stopped.Findings           `json:"stopped"` // how the run ended if not all ranks came to MPI_Finalize; null if they did
	RunSeconds    float64                     `json:"run_seconds"`
	Window        *criticalpath.Window        `json:"window,omitempty"` // only this part of the run was looked at
	Path          *criticalpath.Path          `json:"critical_path"`    // null where times of single calls were not kept
	Clusters      []clusters.Cluster          `json:"clusters"`
	Leads         []int                       `json:"leads"`          // ranks that stand for all: see clusters.Findings
	ClusterPhases []clusters.Phase            `json:"cluster_phases"` // groups in each phase
	Topology      *topology.Findings          `json:"topology"`       // null if the analysis did not run
	Program       *program.Findings           `json:"program"`        // likewise
	Placement     *placement.Findings         `json:"placement"`      // likewise
	Efficiency    criticalpath.Efficiency     `json:"efficiency"`
	CPUs          *criticalpath.CPUs          `json:"cpus"` // null where the operating system was not asked twice
	Ranks         []criticalpath.RankTime     `json:"ranks"`
	Functions     []criticalpath.FunctionTime `json:"functions"`
	CallSites     []criticalpath.SiteTime     `json:"call_sites"`
	Computation   []criticalpath.RegionTime   `json:"computation"`
	WaitStates    []criticalpath.WaitTime     `json:"wait_states" schema:"nullable"` // likewise
	Waits         *criticalpath.WaitBreakdown `json:"waits"`                         // likewise
	RootCauses    *criticalpath.RootCauses    `json:"root_causes"`                   // likewise
	WhatIf        []criticalpath.WhatIf       `json:"what_if" schema:"nullable"`     // likewise
	Phases        *phases.Findings            `json:"phases"`                        // null where times of single calls were not kept
	Profile       *profile.Findings           `json:"profile"`                       // likewise
	Strips        *criticalpath.Strips        `json:"strips"`                        // likewise
	Clock         clock.Findings              `json:"clock"`
	// Ledger is what the time of all ranks went to; null where it is not known.
	Ledger *verdict.Ledger `json:"ledger"`
	// Detail is a window of the run call by call; null where nobody waited, or times of single calls were not kept.
	Detail *detail.Detail `json:"detail"`
	// RankActivities are those of at most 64 ranks, the ones that the verdict names first; null where times of single calls
	// were not kept.
	RankActivities []criticalpath.RankActivities `json:"rank_activities" schema:"nullable"`
	// RankCPUs are those of ranks for which the operating system was asked twice; null where a part of the run was looked at.
	RankCPUs []RankCPU `json:"rank_cpus" schema:"nullable"`

	// Missing are the analyses whose findings the report lacks; left out if there are none.
	Missing []MissingAnalysis `json:"missing_analyses,omitempty"`

	Provenance Provenance `json:"provenance"`
	Notes      []string   `json:"notes"`
}
