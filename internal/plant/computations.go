package plant

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// computations are the problems of ranks that compute longer than necessary.
var computations = []Kind{
	{
		Name: "slow-rank", Real: true, About: "one rank computes longer in one of the regions, always",
		draw:     func(p *Plant, r *rand.Rand) { p.Who = p.some(r, 1) },
		accepted: func(p *Plant) []Expected { return []Expected{excess(p.Who, verdict.Always)} },
		effect:   func(p *Plant, mended bool) effect { return p.slower(mended, p.Severity, always) },
	},
	{
		Name: "few-slow-ranks", About: "some ranks, a quarter at most, compute longer in one of the regions, always",
		draw: func(p *Plant, r *rand.Rand) {
			p.restrict(r, 8, p.Ranks)
			p.Who = p.some(r, 2+r.IntN(min(8, p.Ranks/4)-1))
		},
		accepted: func(p *Plant) []Expected { return []Expected{excess(p.Who, verdict.Always)} },
		effect:   func(p *Plant, mended bool) effect { return p.slower(mended, p.Severity, always) },
	},
	{
		Name: "slow-node", About: "all ranks of one node, of several, compute longer in one of the regions, always",
		draw:     func(p *Plant, r *rand.Rand) { p.drawNode(r) },
		accepted: func(p *Plant) []Expected { return []Expected{excess(p.Who, verdict.Always)} },
		effect:   func(p *Plant, mended bool) effect { return p.slower(mended, p.Severity, always) },
	},
	{
		Name: "sometimes", Real: true, About: "one rank computes much longer in each 5th to 50th iteration",
		draw: func(p *Plant, r *rand.Rand) {
			most := min(50, max(5, maxSteps/p.Ranks/3))
			if p.Real {
				most = 10
			}
			p.Every = between(r, 5, most)
			p.Iterations = max(p.Iterations, 4*p.Every)
			p.Who = p.some(r, 1)
		},
		accepted: func(p *Plant) []Expected { return []Expected{excess(p.Who, verdict.Sometimes)} },
		effect: func(p *Plant, mended bool) effect {
			return p.slower(mended, p.Severity*float64(p.Every), func(i int) bool { return i%p.Every == p.Every-1 })
		},
	},
	{
		Name: "phase", Real: true,
		About: "one rank computes longer in one third of the run, which has calls of its own or not",
		draw: func(p *Plant, r *rand.Rand) {
			p.Who, p.Phase, p.Phases = p.some(r, 1), r.IntN(3), 1+2*r.IntN(2)
			p.Iterations = max(p.Iterations, 30)
		},
		accepted: func(p *Plant) []Expected {
			if p.Phases == 1 {
				return []Expected{excess(p.Who, verdict.Sometimes)}
			}
			return []Expected{excess(p.Who, verdict.Always)}
		},
		effect: func(p *Plant, mended bool) effect {
			return p.slower(mended, 3*p.Severity, func(i int) bool { return p.phaseOf(i) == p.Phase })
		},
	},
	{
		Name: "blocked", Real: true, About: "one rank sleeps in one of the regions",
		draw:     func(p *Plant, r *rand.Rand) { p.Who = p.some(r, 1) },
		accepted: func(p *Plant) []Expected { return []Expected{excess(p.Who, verdict.Blocked, verdict.Always)} },
		effect: func(p *Plant, mended bool) effect {
			if mended {
				return effect{}
			}
			return effect{after: func(s *process, region, _ int) {
				if region == p.Region && s.Rank.Rank() == p.Who[0] {
					s.sleep(time.Duration(p.Severity * float64(p.Work)))
				}
			}}
		},
	},
	{
		Name: "slow-thread", Real: true,
		About:    "a rank computes with threads, one of which has more to do than the others: the rest wait for it",
		draw:     func(p *Plant, r *rand.Rand) { p.Who, p.Count = p.some(r, 1), 2+r.IntN(2) },
		accepted: func(p *Plant) []Expected { return []Expected{excess(p.Who, verdict.InThread, verdict.Always)} },
	},
	{
		Name: "rank-io", Real: true, About: "one rank writes a file and waits until it is on disk (write, fsync), every few iterations",
		draw: func(p *Plant, r *rand.Rand) { p.Who, p.Every = p.some(r, 1), 2+r.IntN(4) },
		accepted: func(p *Plant) []Expected {
			return []Expected{excess(p.Who, verdict.Sometimes, verdict.Blocked, verdict.Always), among(p.Who, verdict.IO)}
		},
	},
	{
		Name: "moving", Real: true, About: "in each iteration another rank computes longer; all compute equally long in the end",
		draw: func(p *Plant, r *rand.Rand) {
			if !p.Real {
				p.restrict(r, 4, 32)
				if p.Program == Halo {
					p.Program = Lockstep // otherwise the ring evens it out
				}
			}
			p.Region = r.IntN(2)
			p.Iterations = (max(p.Iterations, 20) + p.Ranks - 1) / p.Ranks * p.Ranks
		},
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Imbalance, verdict.Moving)} },
		effect: func(p *Plant, mended bool) effect {
			n := float64(p.Ranks)
			more := p.Severity / (1 - (1+p.Severity)/n)
			return p.divided(mended, func(rank, i int) float64 {
				if p.turn(i) == rank {
					return more
				}
				return 0
			}, func(int) float64 { return more / n })
		},
	},
	{
		Name: "gradient", About: "computation grows, or falls, evenly with the rank",
		draw: func(p *Plant, r *rand.Rand) {
			p.restrict(r, 8, p.Ranks)
			p.Severity = min(p.Severity, 0.6)
			p.Region = r.IntN(2)
			most := 2 * p.Severity / (1 - p.Severity)
			for i := range p.Ranks {
				p.Degrees = append(p.Degrees, 1+most*float64(i)/float64(p.Ranks-1))
			}
			if r.IntN(2) == 0 {
				slices.Reverse(p.Degrees)
			}
		},
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Imbalance, verdict.Gradient)} },
		effect:   func(p *Plant, mended bool) effect { return p.divided(mended, p.degree, p.meanDegree) },
	},
	{
		Name: "classes", About: "three to five eighths of the ranks compute longer: neighbors, every other one, or by chance",
		draw: func(p *Plant, r *rand.Rand) {
			p.restrict(r, 8, p.Ranks)
			p.Region = r.IntN(2)
			heavy := int(float64(p.Ranks) * (3 + 2*r.Float64()) / 8)
			share := float64(heavy) / float64(p.Ranks)
			p.Severity = min(p.Severity, 0.6*(1-share)/share)
			more := p.Severity / (1 - share - p.Severity*share)
			p.Who = p.some(r, heavy)
			for way, i := r.IntN(3), 0; i < heavy; i++ {
				switch way {
				case 0:
					p.Who[i] = i
				case 1:
					p.Who[i] = min(2*i, p.Ranks-1-(heavy-1-i))
				}
			}
			p.Degrees = slices.Repeat([]float64{1}, p.Ranks)
			for _, rank := range p.Who {
				p.Degrees[rank] += more
			}
		},
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Imbalance, verdict.Classes)} },
		effect:   func(p *Plant, mended bool) effect { return p.divided(mended, p.degree, p.meanDegree) },
	},
	{
		Name: "heavy", Real: true, About: "several ranks, a fifth at most, compute longer, each by another degree",
		draw: func(p *Plant, r *rand.Rand) {
			if p.Real { // each rank twice as long as the one before it, the first top of them most
				top := r.IntN(p.Ranks)
				// equal work would also take half of the severity, and the same on two cores
				p.Severity, p.Device = 2*p.Severity, true
				p.Who = []int{top, (top + p.Ranks - 1) % p.Ranks}
				slices.Sort(p.Who)
				for rank := range p.Ranks {
					p.Degrees = append(p.Degrees, math.Exp2(float64((rank-top-1+2*p.Ranks)%p.Ranks)))
				}
				return
			}
			p.restrict(r, 16, p.Ranks)
			p.Region = r.IntN(2)
			p.Who = p.some(r, 3+r.IntN(min(20, p.Ranks/5)-2))
			p.Degrees = slices.Repeat([]float64{0}, p.Ranks)
			sum := 0.0
			for _, rank := range p.Who {
				p.Degrees[rank] = 0.3 + 0.7*r.Float64()
				sum += p.Degrees[rank]
			}
			top := p.Who[r.IntN(len(p.Who))]
			sum += 1 - p.Degrees[top]
			p.Degrees[top] = 1
			mean := sum / float64(p.Ranks)
			for i := range p.Degrees {
				p.Degrees[i] = 1 + p.Degrees[i]*p.Severity/(1-mean-p.Severity*mean)
			}
		},
		accepted: func(p *Plant) []Expected {
			return []Expected{anybody(verdict.Imbalance, verdict.Heavy), among(p.Who, verdict.Excess, verdict.Always)}
		},
		effect: func(p *Plant, mended bool) effect { return p.divided(mended, p.degree, p.meanDegree) },
	},
}

func always(int) bool { return true }

// drawNode makes a run with several nodes, one of which is the problem.
func (p *Plant) drawNode(r *rand.Rand) {
	p.restrict(r, 12, p.Ranks)
	for p.PerNode > p.Ranks/3 {
		p.PerNode /= 2
	}
	node := r.IntN(p.Ranks / p.PerNode)
	p.Who = nil
	for i := range p.PerNode {
		p.Who = append(p.Who, node*p.PerNode+i)
	}
}

// slower makes the ranks in Who compute longer in Region in the selected iterations. more is
// relative to an iteration's computation.
func (p *Plant) slower(mended bool, more float64, when func(iteration int) bool) effect {
	if mended {
		return effect{}
	}
	return effect{factor: func(rank, region, i int) float64 {
		if region == p.Region && when(i) && slices.Contains(p.Who, rank) {
			return 1 + more/shares[region]
		}
		return 1
	}}
}

// divided distributes work unequally. more is how much longer a rank computes, relative to an
// iteration's computation. mean is the mean of that over ranks, which every rank has in the mended
// run.
func (p *Plant) divided(mended bool, more func(rank, iteration int) float64, mean func(iteration int) float64) effect {
	return effect{factor: func(rank, region, i int) float64 {
		switch {
		case region != p.Region:
			return 1
		case mended:
			return 1 + mean(i)/shares[region]
		}
		return 1 + more(rank, i)/shares[region]
	}}
}

func (p *Plant) degree(rank, _ int) float64 { return p.Degrees[rank] - 1 }

func (p *Plant) meanDegree(int) float64 {
	sum := 0.0
	for _, d := range p.Degrees {
		sum += d - 1
	}
	return sum / float64(len(p.Degrees))
}

// turn returns which rank has its turn in an iteration: all ranks one after the other, in an order
// that the seed shifts.
func (p *Plant) turn(iteration int) int {
	stride := 1
	for _, s := range []int{3, 5, 7} {
		if p.Ranks%s != 0 && int(p.Seed)%s == 0 {
			stride = s
		}
	}
	return (iteration*stride + int(p.Seed%1024)) % p.Ranks
}
