package analyses

import (
	"context"

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
	"github.com/cairn-mpi/cairn/analyzer/clock"
	method "github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/pass"
)

// A Set is analyses that are run together, as one Job of a TracedMPIJob, and share passes.
type Set struct {
	Name, Title string
	Analyses    []analysis.Any
}

// Names of the sets.
const (
	CriticalPath = "critical-path"
	Clustering   = "clustering"
)

// Sets are all analyses: in the order in which the report shows them.
var Sets = []Set{
	{CriticalPath, "what the run's length is due to: critical path, wait states, efficiencies, what-ifs, verdict", []analysis.Any{
		part(whole, "run", analysis.About{Version: 1}, func(f *criticalpath.Findings) run.Findings {
			return run.Findings{RunSeconds: f.RunSeconds, RunStartNS: f.RunStartNS, Window: f.Window, Clock: f.Clock, Timing: f.Timing, Notes: f.Notes}
		}),
		part(whole, "verdict", analysis.About{Version: 1}, func(f *criticalpath.Findings) verdict.Findings { return verdict.Findings{Verdict: f.Verdict} }),
		part(whole, "stopped", analysis.About{Version: 1, Sections: stopped.Sections}, func(f *criticalpath.Findings) stopped.Findings { return stopped.Findings{Stopped: f.Stopped} }),
		part(whole, "ledger", analysis.About{Version: 1, Sections: ledger.Sections}, func(f *criticalpath.Findings) ledger.Findings { return ledger.Findings{Ledger: f.Ledger} }),
		part(whole, "efficiency", analysis.About{Version: 1, Sections: efficiency.Sections}, func(f *criticalpath.Findings) efficiency.Findings {
			return efficiency.Findings{Efficiency: f.Efficiency}
		}),
		part(whole, "cpus", analysis.About{Version: 1}, func(f *criticalpath.Findings) cpus.Findings { return cpus.Findings{CPUs: f.CPUs, RankCPUs: f.RankCPUs} }),
		part(whole, "whatif", analysis.About{Version: 1, Sections: whatif.Sections}, func(f *criticalpath.Findings) whatif.Findings { return whatif.Findings{WhatIf: f.WhatIf} }),
		part(whole, "strips", analysis.About{Version: 1, Sections: strips.Sections}, func(f *criticalpath.Findings) strips.Findings { return strips.Findings{Strips: f.Strips} }),
		part(whole, "detail", analysis.About{Version: 1}, func(f *criticalpath.Findings) detail.Findings {
			return detail.Findings{Detail: f.Detail, RankActivities: f.RankActivities}
		}),
		part(whole, "path", analysis.About{Version: 1, Sections: path.Sections}, func(f *criticalpath.Findings) path.Findings { return path.Findings{Path: f.Path} }),
		part(whole, "waits", analysis.About{Version: 1, Sections: waits.Sections}, func(f *criticalpath.Findings) waits.Findings {
			return waits.Findings{WaitStates: f.WaitStates, Waits: f.Waits}
		}),
		part(whole, "rootcauses", analysis.About{Version: 1}, func(f *criticalpath.Findings) rootcauses.Findings {
			return rootcauses.Findings{RootCauses: f.RootCauses}
		}),
		part(whole, "ranks", analysis.About{Version: 1, Sections: ranks.Sections}, func(f *criticalpath.Findings) ranks.Findings {
			return ranks.Findings{Ranks: f.Ranks, Functions: f.Functions, CallSites: f.CallSites, Computation: f.Computation}
		}),
		part(whole, "phases", analysis.About{Version: 1, Sections: phases.Sections}, func(f *criticalpath.Findings) phases.Findings { return phases.Findings{Phases: f.Phases} }),
		part(whole, "profile", analysis.About{Version: 1, Sections: profile.Sections}, func(f *criticalpath.Findings) profile.Findings { return profile.Findings{Profile: f.Profile} }),
	}},
	{Clustering, "ranks that behave alike, the shape in which they talk, the program that all of them run", []analysis.Any{
		part(grouped, "topology", analysis.About{Version: 1, Sections: topology.Sections}, func(f *method.Findings) topology.Findings { return topology.Findings{Topology: f.Topology} }),
		part(grouped, "clusters", analysis.About{Version: 1, Sections: clusters.Sections}, func(f *method.Findings) clusters.Findings {
			return clusters.Findings{Clusters: f.Clusters, Leads: f.Leads, Phases: f.Phases, Sequences: f.Sequences, Behaviours: f.Behaviours, Notes: f.Notes}
		}),
		part(grouped, "placement", analysis.About{Version: 1, Sections: placement.Sections}, func(f *method.Findings) placement.Findings { return placement.Findings{Placement: f.Placement} }),
		part(grouped, "program", analysis.About{Version: 1, Sections: program.Sections}, func(f *method.Findings) program.Findings { return program.Findings{Program: f.Program} }),
	}},
}

// Clock is the run's clock map.
var Clock = pass.New("clock", func(ctx context.Context, r *pass.Run) (*clock.Map, error) { return clock.Analyze(ctx, r.Trace()) })

var whole = pass.New("critical path", func(ctx context.Context, r *pass.Run) (*criticalpath.Findings, error) {
	m, err := Clock.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	f, err := criticalpath.Analyze(ctx, r.Trace(), criticalpath.Options{Clock: m})
	return &f, err
}, Clock)

var grouped = pass.New("groups", func(ctx context.Context, r *pass.Run) (*method.Findings, error) {
	m, err := Clock.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	f, err := method.Analyze(ctx, r.Trace(), method.Options{Clock: m})
	return &f, err
}, Clock)

func part[F, T any](of *pass.Pass[*F], name string, about analysis.About, get func(*F) T) analysis.Any {
	return analysis.New(name, about, func(ctx context.Context, r *pass.Run) (T, error) {
		f, err := of.Of(ctx, r)
		if err != nil {
			var none T
			return none, err
		}
		return get(f), nil
	}, of)
}
