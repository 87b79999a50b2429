package clusters

import (
	"github.com/cairn-mpi/cairn/analyzer/clusters"
)

// Findings are the groups of ranks that behave alike.
type Findings struct {
	Clusters []clusters.Cluster `json:"clusters"` // largest first
	// one rank of each cluster for each group of peers that compute for an equal time:
	// Chameleon's top K
	Leads     []int            `json:"leads"`
	Phases    []clusters.Phase `json:"cluster_phases"` // groups in each phase, in order
	Sequences int              `json:"sequences"`      // number of distinct call sequences without arguments
	Behaviors int              `json:"behaviors"`      // the same with arguments
	Notes     []string         `json:"notes,omitempty"`
}
