package plant

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
)

// controls are runs without a problem: whatever is blamed is blamed wrongly.
var controls = []Kind{
	{
		Name: "balanced", Class: Control, Real: true, About: "all ranks do the same", may: byOthers,
		draw:   func(p *Plant, _ *rand.Rand) { p.drawControl() },
		effect: func(*Plant, bool) effect { return effect{} },
	},
	{
		Name: "noisy", Class: Control, Real: true,
		About: "all ranks do the same, with noise of 20 to 50% in each computation", may: byOthers,
		draw: func(p *Plant, r *rand.Rand) {
			p.drawControl()
			p.Noise = 0.2 + 0.3*r.Float64()
		},
		effect: func(*Plant, bool) effect { return effect{} },
	},
	{
		Name: "bursts", Class: Control,
		About:  "all ranks do the same; now and then one of them, another one each time, is held up for a while",
		draw:   func(p *Plant, r *rand.Rand) { p.Severity, p.Every = 0, 200+r.IntN(800) },
		effect: func(p *Plant, _ bool) effect { return effect{after: p.burst} },
	},
	{
		Name: "oversubscribed", Class: Control, Real: true, About: "all ranks do the same, twice as many as there are cores",
		may: func(*Plant) []verdict.Kind { return []verdict.Kind{verdict.CPUs} },
		draw: func(p *Plant, r *rand.Rand) {
			p.drawLong(r)
			p.Severity = 1
		},
		effect: func(p *Plant, _ bool) effect { return p.shared(false, nil) },
	},
	{
		Name: "two-ranks", Class: Control, About: "two ranks that do the same",
		draw:   func(p *Plant, _ *rand.Rand) { p.Severity, p.Ranks = 0, 2 },
		effect: func(*Plant, bool) effect { return effect{} },
	},
	{
		// MPI_Init is a large part of such a short run
		Name: "small", Class: Control, About: "a few ranks and a few iterations, with some noise",
		may: func(*Plant) []verdict.Kind { return []verdict.Kind{verdict.StartEnd} },
		draw: func(p *Plant, r *rand.Rand) {
			p.Severity, p.Ranks, p.Iterations = 0, 2+r.IntN(7), 1+r.IntN(8)
			p.Noise = 0.02 + 0.1*r.Float64()
		},
		effect: func(*Plant, bool) effect { return effect{} },
	},
	{
		Name: "pattern", Class: Control, About: "a balanced pattern of package simulate, with noise",
		draw: func(p *Plant, r *rand.Rand) {
			p.Severity, p.Program = 0, ""
			p.Pattern = balanced[r.IntN(len(balanced))]
			p.Ranks = []int{4, 9, 16, 25, 36, 64}[r.IntN(6)]
			p.Noise = 0.02 + 0.1*r.Float64()
			p.Work *= 4
		},
		may: func(p *Plant) []verdict.Kind {
			if p.Pattern == "wavefront" { // a pipeline, which must be filled
				return []verdict.Kind{verdict.Serialization}
			}
			return nil
		},
		effect: func(*Plant, bool) effect { return effect{} },
	},
}

// byOthers: other users of this machine take CPUs from a real control.
func byOthers(p *Plant) []verdict.Kind {
	if p.Real {
		return []verdict.Kind{verdict.CPUs}
	}
	return nil
}

// balanced are the patterns with ranks that never wait for long, except in a wavefront.
var balanced = slices.DeleteFunc(simulate.Names(), func(name string) bool { return name == "random" })

// drawControl plants nothing. A real control has as many ranks as there are cores, so that it does
// not lack CPUs.
func (p *Plant) drawControl() {
	p.Severity = 0
	if p.Real {
		p.Ranks = cores()
	}
}

// burst delays a rank at the end of a computation, once in Every computations on average, by at
// most the length of one.
func (p *Plant) burst(s *process, region, iteration int) {
	if rank := s.Rank.Rank(); p.chance(rank, region, iteration, 1) < 1/float64(p.Every) {
		s.waitForCPU(time.Duration(p.chance(rank, region, iteration, 2) * float64(p.Work)))
	}
}
