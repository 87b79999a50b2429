package plant

import (
	"math/rand/v2"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// failures are runs that hang and are then killed, or that crash. They are real only.
var failures = []Kind{
	{
		Name: "deadlock", Class: Failure, Real: true,
		About:    "after some iterations, every rank receives from the next one before it sends to the one before",
		draw:     func(p *Plant, _ *rand.Rand) { p.Severity = 0 },
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Hang, verdict.Cycle)} },
	},
	{
		Name: "missing-rank", Class: Failure, Real: true,
		About: "one rank leaves its loop an iteration early: the others wait in a collective, it in the next one",
		draw:  func(p *Plant, r *rand.Rand) { p.drawFailure(r) },
		accepted: func(p *Plant) []Expected {
			return []Expected{just(p.Who, verdict.Hang, verdict.Missing, verdict.Mismatch)}
		},
	},
	{
		Name: "wrong-collective", Class: Failure, Real: true, About: "one rank calls another collective than the others",
		draw: func(p *Plant, r *rand.Rand) { p.drawFailure(r) },
		accepted: func(p *Plant) []Expected {
			return []Expected{just(p.Who, verdict.Hang, verdict.Mismatch)}
		},
	},
	{
		Name: "crash", Class: Failure, Real: true, About: "one rank dies of a segmentation fault",
		draw:     func(p *Plant, r *rand.Rand) { p.drawFailure(r) },
		accepted: func(p *Plant) []Expected { return []Expected{just(p.Who, verdict.Crash)} },
	},
	{
		Name: "exit", Class: Failure, Real: true, About: "one rank ends with exit(3), without MPI_Finalize",
		draw:     func(p *Plant, r *rand.Rand) { p.drawFailure(r) },
		accepted: func(p *Plant) []Expected { return []Expected{just(p.Who, verdict.Crash)} },
	},
}

// drawFailure draws the rank at fault.
func (p *Plant) drawFailure(r *rand.Rand) { p.Severity, p.Who = 0, p.some(r, 1) }
