package profile

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/profile"
)

// Findings are the profile.
type Findings struct {
	Profile *profile.Findings `json:"profile"` // null if the times of single calls were not recorded
}

// Analysis sums calls by function, and traffic by sender and receiver.
var Analysis = analysis.New("profile", analysis.About{Title: "calls, bytes, and the communication matrix", Version: 1, Sections: Sections}, find, matching.Pass)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	f := matching.Pass.Result(r)
	if f == nil {
		return Findings{}, nil
	}
	found, err := f.Profile.Findings()
	if err != nil {
		return Findings{}, fmt.Errorf("profile: %w", err)
	}
	return Findings{Profile: &found}, nil
}
