package plant

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
)

// system are the problems of the machine below the program.
var system = []Kind{
	{
		Name: "few-cpus", Real: true, About: "the ranks have fewer CPUs than they need, since others use them",
		draw: func(p *Plant, r *rand.Rand) {
			p.drawLong(r)
			if p.Real { // two processes that only compute, on each core
				p.Count, p.Iterations = 2*cores(), p.Iterations/2
			}
		},
		accepted: func(p *Plant) []Expected {
			if p.Real {
				return []Expected{anybody(verdict.CPUs, verdict.TooFew), anybody(verdict.Excess, verdict.Preempted)}
			}
			return []Expected{anybody(verdict.CPUs, verdict.TooFew)}
		},
		effect: func(p *Plant, mended bool) effect { return p.shared(mended, nil) },
	},
	{
		Name: "limits", About: "CPU limits stop the containers of all ranks, again and again",
		draw:     func(p *Plant, r *rand.Rand) { p.drawLong(r) },
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.CPUs, verdict.Limits)} },
		effect:   func(p *Plant, mended bool) effect { return p.limited(mended, func(int) bool { return true }) },
	},
	{
		Name: "stopped", About: "the CPU limit of one pod, all ranks of a node, stops it again and again",
		draw: func(p *Plant, r *rand.Rand) {
			p.drawLong(r)
			p.drawNode(r)
		},
		accepted: func(p *Plant) []Expected {
			return []Expected{excess(p.Who, verdict.Stopped), just(p.Who, verdict.CPUs, verdict.Limits)}
		},
		effect: func(p *Plant, mended bool) effect { return p.limited(mended, p.isWho) },
	},
	{
		Name: "preempted", About: "others use the CPU of one rank, or those of one node",
		draw: func(p *Plant, r *rand.Rand) {
			p.drawLong(r)
			p.drawNode(r)
			if r.IntN(2) == 0 {
				p.Who = p.Who[:1]
			}
		},
		accepted: func(p *Plant) []Expected {
			return []Expected{excess(p.Who, verdict.Preempted), just(p.Who, verdict.CPUs, verdict.TooFew)}
		},
		effect: func(p *Plant, mended bool) effect { return p.shared(mended, p.isWho) },
	},
	{
		Name: "network", About: "messages from node to node take long; those within a node do not",
		draw: func(p *Plant, r *rand.Rand) {
			p.restrict(r, 8, 128)
			for p.PerNode > p.Ranks/2 {
				p.PerNode /= 2
			}
			p.Program = Halo
		},
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Network), anybody(verdict.Messages)} },
		effect: func(p *Plant, mended bool) effect {
			if mended {
				return effect{}
			}
			// twice in an iteration; the first time while ranks compute
			return effect{model: func(m *simulate.Model) {
				m.Between = int64((p.Severity + shares[0]) * float64(p.Work.Nanoseconds()) / 2)
			}}
		},
	},
}

// drawLong makes a run with computations of many milliseconds, as long as a kernel makes others
// wait.
func (p *Plant) drawLong(r *rand.Rand) {
	if !p.Real {
		p.Work *= 10
		p.restrict(r, 4, 128)
	}
}

func (p *Plant) isWho(rank int) bool { return slices.Contains(p.Who, rank) }

// shared makes other processes use the CPUs of some ranks (of all, if of is nil), so that they
// compute longer by severity.
func (p *Plant) shared(mended bool, of func(rank int) bool) effect {
	if mended {
		return effect{}
	}
	return effect{spend: func(s *process, d time.Duration) {
		s.spend(d)
		if rank := s.Rank.Rank(); of == nil || of(rank) {
			jitter := 0.9 + 0.2*p.chance(rank, int(s.Now()))
			s.waitForCPU(time.Duration(p.Severity * jitter * float64(d)))
		}
	}}
}

// limited stops some ranks for the rest of each period of 100 ms once they have used their share of
// it. The periods of the nodes are shifted against each other.
func (p *Plant) limited(mended bool, of func(rank int) bool) effect {
	if mended {
		return effect{}
	}
	const period = 100 * time.Millisecond
	quota := time.Duration(float64(period) / (1 + p.Severity))
	return effect{spend: func(s *process, d time.Duration) {
		rank := s.Rank.Rank()
		if !of(rank) {
			s.spend(d)
			return
		}
		shift := time.Duration(p.chance(rank/p.PerNode) * float64(period))
		for d > 0 {
			at := (s.Now() + shift) % period
			if at >= quota {
				s.stop(period - at)
				continue
			}
			run := min(d, quota-at)
			s.spend(run)
			d -= run
		}
	}}
}
