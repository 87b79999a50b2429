package clusters

import "github.com/cairn-mpi/cairn/analyzer/topology"

// SchemaVersion is that of Findings.
const SchemaVersion = 1

// Findings are the groups of ranks that behave alike.
type Findings struct {
	SchemaVersion int       `json:"schema_version"`
	Clusters      []Cluster `json:"clusters"`   // largest first
	Sequences     int       `json:"sequences"`  // how many distinct sequences of calls there are, arguments aside
	Behaviours    int       `json:"behaviours"` // and with arguments
	// Topology is the shape in which ranks talk.
	Topology *topology.Findings `json:"topology"`
	Notes    []string           `json:"notes"`
}

// A Cluster is ranks that execute the same part of the program.
type Cluster struct {
	Lead  int    `json:"lead"` // the lowest rank of the most common behaviour
	Ranks string `json:"ranks"`
	Size  int    `json:"size"`
	// Distinction says in words what sets the cluster apart.
	Distinction string `json:"distinction"`
	CallSites   int    `json:"call_sites"` // distinct (call site, function)
	Calls       uint64 `json:"calls"`      // of the lead
	// Variants are ranks of the cluster that are alike in every call and argument; the largest 16 of them.
	Variants     []Variant `json:"variants"`
	VariantCount int       `json:"variant_count"`
}

// A Variant is ranks that make the same calls with the same arguments.
type Variant struct {
	Lead  int    `json:"lead"`
	Ranks string `json:"ranks"`
	Size  int    `json:"size"`
}
