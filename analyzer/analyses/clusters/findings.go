package clusters

import (
	"github.com/cairn-mpi/cairn/analyzer/clusters"
)

// Findings are the groups of ranks that behave alike.
type Findings struct {
	Clusters  []clusters.Cluster `json:"clusters"`       // largest first
	Leads     []int              `json:"leads"`          // of each cluster one for those of a group of peers that compute for as long: Chameleon's top K
	Phases    []clusters.Phase   `json:"cluster_phases"` // groups in each phase, in order
	Sequences int                `json:"sequences"`      // how many distinct sequences of calls there are, arguments aside
	Behaviors int                `json:"behaviors"`      // and with arguments
	Notes     []string           `json:"notes,omitempty"`
}
