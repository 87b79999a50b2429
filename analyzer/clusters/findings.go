package clusters

import (
	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// SchemaVersion is the version of Findings.
const SchemaVersion = 2

// Findings are the groups of ranks that behave alike.
type Findings struct {
	SchemaVersion int       `json:"schema_version"`
	Clusters      []Cluster `json:"clusters"` // largest first
	// of each cluster, one for each group of peers with similar computation: Chameleon's top K
	Leads     []int   `json:"leads"`
	Sequences int     `json:"sequences"` // number of distinct sequences of calls, without arguments
	Behaviors int     `json:"behaviors"` // likewise, with arguments
	Phases    []Phase `json:"phases"`    // in order
	// Topology is the communication topology.
	Topology *topology.Findings `json:"topology"`
	// Program is what all ranks do, as one text.
	Program *program.Findings `json:"program"`
	// Placement is the distribution of ranks over nodes.
	Placement *placement.Findings `json:"placement"`
	Notes     []string            `json:"notes"`

	leads map[int]int // by rank
}

// LeadOf returns the lead of a rank, one of Leads; the rank itself if it is in no group.
func (f *Findings) LeadOf(rank int) int {
	if lead, known := f.leads[rank]; known {
		return lead
	}
	return rank
}

// A Cluster is a set of ranks that execute the same part of the program.
type Cluster struct {
	Lead  int    `json:"lead"` // the lowest rank of the most common behavior
	Ranks string `json:"ranks"`
	Size  int    `json:"size"`
	// Distinction describes what distinguishes the cluster.
	Distinction string `json:"distinction"`
	CallSites   int    `json:"call_sites"` // distinct (call site, function)
	Calls       uint64 `json:"calls"`      // of the lead
	// Variants are sets of ranks of the cluster that agree in every call and argument; the 16
	// largest ones.
	Variants     []Variant `json:"variants"`
	VariantCount int       `json:"variant_count"`
	// Peers are the groups by the ranks that they send to and receive from, relative to themselves.
	// Timing are those by computation, MPI and waiting time. Both have one group if there is no
	// clear structure.
	Peers    []Group   `json:"peers"`
	Timing   []Group   `json:"timing"`
	Outliers []Outlier `json:"outliers"` // ranks with times far from those of their group
}

// A Variant is a set of ranks that make the same calls with the same arguments.
type Variant struct {
	Lead  int    `json:"lead"`
	Ranks string `json:"ranks"`
	Size  int    `json:"size"`
}

// A Group is a set of similar ranks, with its lead in their middle.
type Group struct {
	Lead  int    `json:"lead"`
	Ranks string `json:"ranks"`
	Size  int    `json:"size"`
	// For groups by timing, the lead's seconds; else null.
	Computation *float64 `json:"computation_seconds"`
	MPI         *float64 `json:"mpi_seconds"`     // including waiting
	Waiting     *float64 `json:"waiting_seconds"` // null if unknown
	// Distinction describes what distinguishes the group from the first one.
	Distinction string `json:"distinction,omitempty"`
}

// An Outlier is a rank that differs from the lead of its group.
type Outlier struct {
	Rank int    `json:"rank"`
	Lead int    `json:"lead"`
	Text string `json:"text"`
}

// A Phase is how ranks are grouped in one phase alone.
type Phase struct {
	Name string `json:"name"`
	Loop bool   `json:"loop"`
	// Behaviors are ranks that make calls from the same call sites in this phase; Timing are those
	// with similar times in it.
	Behaviors []Group   `json:"behaviors"`
	Timing    []Group   `json:"timing"`
	Outliers  []Outlier `json:"outliers"`
	Topology  string    `json:"topology"` // of the phase's messages
}
