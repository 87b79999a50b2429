package stopped

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// A thread ran if it had a CPU for mostly of the time in which it was watched. It was blocked if it
// had one for hardly of it, and was blocked at the last look.
const (
	mostly = 0.5
	hardly = 0.05
)

// activityOf returns what the main thread of a rank did outside MPI in the end, as seen from
// outside the process, or that it was suspended anywhere. It is unknown if the rank had been
// outside MPI for less time than it was watched.
func activityOf(r *state) verdict.Activity {
	if r.end == nil || !r.last.there {
		return verdict.Unseen
	}
	look := &r.end.Look
	switch {
	case trace.IsSuspended(look.State) && r.died-look.Age > r.last.exit:
		return verdict.Suspended
	case r.open != nil:
		return verdict.Unseen
	}
	if look.Watched <= 0 || r.died-look.Age-look.Watched < r.last.exit {
		return verdict.Unseen
	}
	ran := float64(look.Ran) / float64(look.Watched)
	switch {
	case ran >= mostly, look.State == 'R':
		return verdict.Running
	case ran <= hardly && (look.State == 'S' || look.State == 'D'):
		return verdict.InKernel
	}
	return verdict.Unseen
}
