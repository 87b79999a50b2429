package profile

import (
	"github.com/cairn-mpi/cairn/analyzer/profile"
)

// Findings are the profile.
type Findings struct {
	Profile *profile.Findings `json:"profile"` // null if the times of single calls were not recorded
}
