package profile

import (
	"github.com/cairn-mpi/cairn/analyzer/profile"
)

// Findings are the profile.
type Findings struct {
	Profile *profile.Findings `json:"profile"` // null where times of single calls were not kept
}
