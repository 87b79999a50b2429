package analyses

import (
	"github.com/cairn-mpi/cairn/analyzer/analyses/clusters"
	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analyses/placement"
	"github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/analyses/program"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/analyses/strips"
	"github.com/cairn-mpi/cairn/analyzer/analyses/topology"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
)

// A Set is a group of analyses that run together, as one Job of a TracedMPIJob, and share passes.
type Set struct {
	Name, Title string
	Analyses    []analysis.Any
}

// Names of the sets.
const (
	CriticalPath = "critical-path"
	Clustering   = "clustering"
)

// Sets are all sets of analyses. Their order is that of the sections of the report.
var Sets = []Set{
	{CriticalPath, "why the run takes as long as it does: critical path, wait states, efficiencies, what-ifs, verdict", []analysis.Any{
		run.Analysis, verdict.Analysis, stopped.Analysis, ledger.Analysis, efficiency.Analysis, cpus.Analysis, whatif.Analysis, strips.Analysis,
		detail.Analysis, path.Analysis, waits.Analysis, rootcauses.Analysis, ranks.Analysis, phases.Analysis, profile.Analysis,
	}},
	{Clustering, "ranks that behave alike, the topology of the communication, the program of all ranks", []analysis.Any{
		topology.Analysis, clusters.Analysis, placement.Analysis, program.Analysis,
	}},
}
