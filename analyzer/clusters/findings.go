package clusters

import (
	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// SchemaVersion is that of Findings.
const SchemaVersion = 2

// Findings are the groups of ranks that behave alike.
type Findings struct {
	SchemaVersion int       `json:"schema_version"`
	Clusters      []Cluster `json:"clusters"`  // largest first
	Leads         []int     `json:"leads"`     // of each cluster one for those of a group of peers that compute for as long: Chameleon's top K
	Sequences     int       `json:"sequences"` // how many distinct sequences of calls there are, arguments aside
	Behaviors     int       `json:"behaviors"` // and with arguments
	Phases        []Phase   `json:"phases"`    // in order
	// Topology is the shape in which ranks talk.
	Topology *topology.Findings `json:"topology"`
	// Program is what all ranks do, as one text.
	Program *program.Findings `json:"program"`
	// Placement is about which ranks are on which nodes.
	Placement *placement.Findings `json:"placement"`
	Notes     []string            `json:"notes"`

	leads map[int]int // by rank
}

// LeadOf is the lead that stands for a rank, one of Leads; the rank itself where it is in no group.
func (f *Findings) LeadOf(rank int) int {
	if lead, known := f.leads[rank]; known {
		return lead
	}
	return rank
}

// A Cluster is ranks that execute the same part of the program.
type Cluster struct {
	Lead  int    `json:"lead"` // the lowest rank of the most common behavior
	Ranks string `json:"ranks"`
	Size  int    `json:"size"`
	// Distinction says in words what sets the cluster apart.
	Distinction string `json:"distinction"`
	CallSites   int    `json:"call_sites"` // distinct (call site, function)
	Calls       uint64 `json:"calls"`      // of the lead
	// Variants are ranks of the cluster that are alike in every call and argument; the largest 16 of them.
	Variants     []Variant `json:"variants"`
	VariantCount int       `json:"variant_count"`
	// Peers are the groups by whom ranks send to and receive from, relative to themselves; Timing those by computation,
	// MPI and waiting time. Both are one group where there is no clear structure.
	Peers    []Group   `json:"peers"`
	Timing   []Group   `json:"timing"`
	Outliers []Outlier `json:"outliers"` // ranks whose times are far from those of their group
}

// A Variant is ranks that make the same calls with the same arguments.
type Variant struct {
	Lead  int    `json:"lead"`
	Ranks string `json:"ranks"`
	Size  int    `json:"size"`
}

// A Group is ranks that are close to each other, its lead in their middle.
type Group struct {
	Lead  int    `json:"lead"`
	Ranks string `json:"ranks"`
	Size  int    `json:"size"`
	// Of groups by timing: the lead's seconds; else null.
	Computation *float64 `json:"computation_seconds"`
	MPI         *float64 `json:"mpi_seconds"`     // waiting included
	Waiting     *float64 `json:"waiting_seconds"` // null where it is not known
	// Distinction says in words what sets the group apart from the first.
	Distinction string `json:"distinction,omitempty"`
}

// An Outlier is a rank that is unlike the lead of its group.
type Outlier struct {
	Rank int    `json:"rank"`
	Lead int    `json:"lead"`
	Text string `json:"text"`
}

// A Phase is how ranks fall into groups in one phase only.
type Phase struct {
	Name string `json:"name"`
	Loop bool   `json:"loop"`
	// Behaviors are ranks that make calls from the same places in this phase, Timing those with similar times in it.
	Behaviors []Group   `json:"behaviors"`
	Timing    []Group   `json:"timing"`
	Outliers  []Outlier `json:"outliers"`
	Topology  string    `json:"topology"` // of the phase's messages
}
