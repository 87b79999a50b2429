package plant

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
)

// waits are the problems of ranks that must wait for each other. No rank computes too long.
var waits = []Kind{
	{
		Name: "chain", Real: true,
		About: "in each iteration every rank waits for the rank before it, then computes, then lets the next one go on",
		draw: func(p *Plant, r *rand.Rand) {
			p.drawLine()
			if !p.Real {
				p.restrict(r, 4, 64)
			}
		},
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Serialization, verdict.Chain)} },
		effect: func(p *Plant, mended bool) effect {
			each := time.Duration(p.Severity * float64(p.Work) / (float64(p.Ranks-1) - p.Severity))
			return effect{step: func(s *process, i int) {
				me := s.Rank.Rank()
				if !mended && me > 0 {
					s.At(700).Recv(s.World(), me-1, 70, 64)
				}
				s.compute(each, inStep, i)
				if !mended && me < p.Ranks-1 {
					s.At(702).Send(s.World(), me+1, 70, 64)
				}
				s.At(704).Allreduce(s.World(), 8)
			}}
		},
	},
	{
		Name: "pipeline", Real: true,
		About: "sweeps over the ranks in a few large blocks: the last rank begins when most of the sweep is over",
		draw: func(p *Plant, r *rand.Rand) {
			p.drawLine()
			p.Device = true // three of four ranks at the same time in the mended run
			if p.Count = 2; !p.Real {
				p.restrict(r, 4, 32)
				p.Count += r.IntN(3)
			}
		},
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Serialization, verdict.Pipeline)} },
		effect: func(p *Plant, mended bool) effect {
			const finer = 8
			blocks := p.Count
			sweep := p.Severity * float64(p.Work) * float64(p.Count) / float64(p.Ranks-1) * finer / (finer - 1)
			if mended {
				blocks *= finer
			}
			return effect{step: func(s *process, i int) {
				me := s.Rank.Rank()
				for range blocks {
					if me > 0 {
						s.At(710).Recv(s.World(), me-1, 71, haloBytes)
					}
					s.compute(time.Duration(sweep/float64(blocks)), inStep, i)
					if me < p.Ranks-1 {
						s.At(712).Send(s.World(), me+1, 71, haloBytes)
					}
				}
				s.At(714).Allreduce(s.World(), 8)
			}}
		},
	},
	{
		Name: "master", Real: true, About: "rank 0 prepares each task itself, and so slowly that the workers wait for it",
		draw: func(p *Plant, r *rand.Rand) {
			p.drawFarm(r)
			p.Count += 2
			if p.Real {
				p.Severity *= 3 // the workers alone need more cores than there are
			}
			// otherwise workers would wait only at the beginning of a round
			p.Severity = max(p.Severity, 0.1+1/float64(p.Count))
		},
		accepted: func(*Plant) []Expected {
			return []Expected{anybody(verdict.Serialization, verdict.Master), excess([]int{0}, verdict.Always)}
		},
		effect: func(p *Plant, mended bool) effect {
			// the last worker gets its last task when all are prepared
			prepare := time.Duration((1 + p.Severity - 1/float64(p.Count)) * float64(p.Work) / float64(p.Ranks-1))
			if mended {
				prepare /= 20
			}
			return effect{instead: func(s *process) { s.farm(prepare, nil) }}
		},
	},
	{
		Name: "slow-worker", Real: true, About: "rank 0 hands out tasks to whoever is ready; one worker takes much longer for each",
		draw: func(p *Plant, r *rand.Rand) {
			p.drawFarm(r)
			p.Who = []int{1 + r.IntN(p.Ranks-1)}
		},
		accepted: func(p *Plant) []Expected { return []Expected{excess(p.Who, verdict.Always, verdict.Blocked)} },
		effect: func(p *Plant, mended bool) effect {
			return effect{instead: func(s *process) {
				s.farm(time.Microsecond, func(worker int) float64 {
					if !mended && worker == p.Who[0] {
						return float64(p.Count) * (1 + p.Severity)
					}
					return 1
				})
			}}
		},
	},
	{
		Name: "serial", Real: true, About: "in each iteration one rank computes alone what the others then get by a broadcast",
		draw: func(p *Plant, r *rand.Rand) {
			p.Who = []int{0}
			if r.IntN(2) == 0 {
				p.Who = p.some(r, 1)
			}
		},
		accepted: func(p *Plant) []Expected {
			return []Expected{anybody(verdict.Serialization, verdict.Master), excess(p.Who, verdict.Always, verdict.Blocked)}
		},
		effect: func(p *Plant, mended bool) effect {
			n := float64(p.Ranks)
			part := p.Severity * float64(p.Work) / (1 - (1+p.Severity)/n)
			return effect{step: func(s *process, i int) {
				switch {
				case mended:
					s.compute(time.Duration(part/n), inStep, i)
				case s.Rank.Rank() == p.Who[0]:
					s.compute(time.Duration(part), inStep, i)
				}
				s.At(720).Bcast(s.World(), p.Who[0], haloBytes)
				s.At(722).Allreduce(s.World(), 8)
			}}
		},
	},
	{
		Name: "late-receiver", Real: true, About: "a rank computes before it posts a receive; the sender cannot go on until it has",
		draw: func(p *Plant, r *rand.Rand) {
			if !p.Real {
				p.Severity = min(p.Severity, 0.8)
			}
			p.Count = r.IntN(2) // MPI_Ssend, or a large message
			p.Who = p.some(r, 1)
			if !p.Real && r.IntN(2) == 0 { // every odd rank
				p.Who = nil
				for i := 1; i < p.Ranks; i += 2 {
					p.Who = append(p.Who, i)
				}
			}
		},
		accepted: func(p *Plant) []Expected { return []Expected{among(p.Who, verdict.LateReceiver, verdict.NotPosted)} },
		effect: func(p *Plant, mended bool) effect {
			d := time.Duration(p.Severity * float64(p.Work) / (1 - p.Severity))
			return effect{step: func(s *process, i int) { s.pairs(p, mended, d, i) }}
		},
	},
	{
		Name: "no-progress", Real: true,
		About: "a receive of a large message is posted in time, but the receiver computes outside MPI while the sender waits",
		draw: func(p *Plant, r *rand.Rand) {
			p.Who = p.some(r, 1)
		},
		accepted: func(p *Plant) []Expected {
			return []Expected{among(p.Who, verdict.LateReceiver, verdict.NotInside)}
		},
	},
}

// drawLine makes the rest of a real program small: ranks that wait for a CPU in turn would gain
// nothing if they no longer waited for another rank.
func (p *Plant) drawLine() {
	if p.Real {
		p.Work, p.Severity = p.Work/3, 6*p.Severity
	}
}

// drawFarm makes a run of a master and workers, with Count tasks for each worker in a round.
func (p *Plant) drawFarm(r *rand.Rand) {
	if !p.Real {
		p.restrict(r, 4, 64)
		p.Program = "farm"
	}
	p.Count = 2 + r.IntN(3)
	if !p.Real || p.Kind == "master" {
		p.Iterations = min(p.Iterations, 20)
	}
}

// Tags of the farm.
const (
	tagTask = 1 + iota
	tagResult
	tagEnd
)

// farm is a master with workers, in rounds. The master spends prepare on each task. more is the
// factor of a worker's time for a task; nil: 1.
func (s *process) farm(prepare time.Duration, more func(worker int) float64) {
	p, workers := s.plant, s.plant.Ranks-1
	for i := range p.Iterations {
		if s.Rank.Rank() == 0 {
			s.handOut(i, workers, prepare)
		} else {
			for k := 0; s.At(50).Recv(s.World(), 0, simulate.AnyTag, haloBytes).Tag == tagTask; k++ {
				d := float64(p.Work)
				if more != nil {
					d *= more(s.Rank.Rank())
				}
				s.compute(time.Duration(d), inTask+k, i)
				s.At(54).Send(s.World(), 0, tagResult, haloBytes)
			}
		}
		s.At(60).Barrier(s.World())
	}
}

func (s *process) handOut(i, workers int, prepare time.Duration) {
	tasks, given := s.plant.Count*workers, 0
	give := func(to int) {
		if given == tasks {
			s.At(33).Send(s.World(), to, tagEnd, 0)
			return
		}
		s.compute(prepare, inMaster+given, i)
		given++
		s.At(30).Send(s.World(), to, tagTask, haloBytes)
	}
	for w := range workers {
		give(1 + w)
	}
	for range tasks {
		give(s.At(40).Recv(s.World(), simulate.AnySource, tagResult, haloBytes).Source)
	}
}

// pairs is the step of late receivers: the rank before each of Who sends to it and then computes;
// the receiver computes first.
func (s *process) pairs(p *Plant, mended bool, d time.Duration, i int) {
	me, n, world := s.Rank.Rank(), p.Ranks, s.World()
	const large = 200_000
	switch {
	case slices.Contains(p.Who, me):
		from := (me + n - 1) % n
		if mended {
			q := s.At(730).Irecv(world, from, 73, large)
			s.compute(d, inStep, i)
			s.At(732).Wait(q)
			break
		}
		s.compute(d, inStep, i)
		s.At(731).Recv(world, from, 73, large)
	case slices.Contains(p.Who, (me+1)%n):
		if p.Count == 0 {
			s.At(734).Ssend(world, (me+1)%n, 73, 64)
		} else {
			s.At(735).Send(world, (me+1)%n, 73, large)
		}
		s.compute(d, inStep, i)
	default:
		s.compute(d, inStep, i)
	}
	s.At(738).Allreduce(world, 8)
}
