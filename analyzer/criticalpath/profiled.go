package criticalpath

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
)

// profileAnalysis says what calls came to, and who sent how much to whom.
var profileAnalysis = analysis.New("profile", analysis.About{Title: "calls, bytes, and the communication matrix", Version: 1}, findProfile, matchingPass)

func findProfile(ctx context.Context, r *pass.Run) (profile.Findings, error) {
	f, err := matchingPass.Of(ctx, r)
	if f == nil || err != nil {
		return profile.Findings{}, err
	}
	found, err := f.profile.Findings()
	if err != nil {
		return profile.Findings{}, fmt.Errorf("profile: %w", err)
	}
	return profile.Findings{Profile: &found}, nil
}
