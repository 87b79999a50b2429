package criticalpath

import (
	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/analyses/strips"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
)

// SchemaVersion is that of Findings: it grows when a key changes its meaning or goes.
const SchemaVersion = 2

// Findings are those of all analyses around the critical path, under their own keys. Times are in seconds, or in nanoseconds
// since the run began. What the trace cannot tell is null: of one without the times of single calls (timing aggregated) there
// are sums only.
type Findings struct {
	SchemaVersion int `json:"schema_version"`
	runFindings
	verdictFindings
	stoppedFindings
	pathFindings
	efficiencyFindings
	cpuFindings
	rankFindings
	waitFindings
	whatIfFindings
	stripFindings
	phaseFindings
	profileFindings
	ledgerFindings
	detailFindings
	RootCauses *rootcauses.RootCauses `json:"root_causes"` // null where times of single calls were not kept
	Notes      []string               `json:"notes"`       // of all of them
}

// Names under which the findings, which are all called so, can be embedded together.
type (
	runFindings        = run.Findings
	verdictFindings    = verdict.Findings
	stoppedFindings    = stopped.Findings
	pathFindings       = path.Findings
	efficiencyFindings = efficiency.Findings
	cpuFindings        = cpus.Findings
	rankFindings       = ranks.Findings
	waitFindings       = waits.Findings
	whatIfFindings     = whatif.Findings
	stripFindings      = strips.Findings
	phaseFindings      = phases.Findings
	profileFindings    = profile.Findings
	ledgerFindings     = ledger.Findings
	detailFindings     = detail.Findings
)
