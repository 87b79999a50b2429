package plant

import (
	"math"
	"math/bits"
	"time"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
)

// An effect is what a problem changes in a simulated program. Fields that are nil change nothing.
type effect struct {
	factor  func(rank, region, iteration int) float64 // factor of the duration of a computation
	after   func(s *process, region, iteration int)   // in addition, at its end
	step    func(s *process, iteration int)           // at the end of each iteration
	end     func(s *process)                          // before MPI_Finalize
	instead func(s *process)                          // replaces the whole program
	spend   func(s *process, d time.Duration)         // how a rank spends CPU time
	model   func(m *simulate.Model)
}

// A process is a rank of a simulated plant, with what the operating system counts for it.
type process struct {
	*simulate.Rank
	plant   *Plant
	effects []effect
	counts  trace.ContextSample
	samples []trace.ContextSample
}

// effects returns those of a plant, or of both plants of a combination. mended selects the problems
// to leave out.
func (p *Plant) effects(mended func(p *Plant) bool) ([]effect, error) {
	all := p.With
	if len(all) == 0 {
		all = []*Plant{p}
	}
	var effects []effect
	for _, one := range all {
		k, err := KindOf(one.Kind)
		if err != nil {
			return nil, err
		}
		effects = append(effects, k.effect(one, mended(one)))
	}
	return effects, nil
}

// run is the rank's whole program.
func (s *process) run() {
	s.samples = append(s.samples, s.sample())
	for _, e := range s.effects {
		if e.instead != nil {
			e.instead(s)
			s.samples = append(s.samples, s.sample())
			return
		}
	}
	for i := range s.plant.Iterations {
		s.iterate(i)
		for _, e := range s.effects {
			if e.step != nil {
				e.step(s, i)
			}
		}
	}
	for _, e := range s.effects {
		if e.end != nil {
			e.end(s)
		}
	}
	s.samples = append(s.samples, s.sample())
}

// work computes in a region.
func (s *process) work(region, iteration int) {
	d := float64(s.plant.Work) * shares[region]
	for _, e := range s.effects {
		if e.factor != nil {
			d *= e.factor(s.Rank.Rank(), region, iteration)
		}
	}
	s.compute(time.Duration(d), region, iteration)
	for _, e := range s.effects {
		if e.after != nil {
			e.after(s, region, iteration)
		}
	}
}

// Numbers of computations other than the regions, for their noise.
const (
	inStep = len(shares) + iota
	inTask
	inMaster
	atEnd
)

// compute computes, with noise that depends on the rank, the computation and the iteration.
func (s *process) compute(d time.Duration, which, iteration int) {
	d += time.Duration(float64(d) * s.plant.Noise * s.plant.chance(s.Rank.Rank(), which, iteration))
	for _, e := range s.effects {
		if e.spend != nil {
			e.spend(s, d)
			s.tick()
			return
		}
	}
	s.spend(d)
	s.tick()
}

// spend uses a CPU for d.
func (s *process) spend(d time.Duration) {
	s.Compute(d)
	s.counts.CPUNS += d.Nanoseconds()
}

// sleep gives up the CPU for d and is not runnable.
func (s *process) sleep(d time.Duration) {
	s.Blocked(d)
	s.counts.VoluntarySwitches++
}

// waitForCPU is runnable for d, but gets no CPU.
func (s *process) waitForCPU(d time.Duration) {
	s.Preempted(d)
	s.counts.RunDelayNS += d.Nanoseconds()
	s.counts.InvoluntarySwitches++
}

// stop stops the process for d, as a CPU limit does.
func (s *process) stop(d time.Duration) {
	s.Stopped(d)
	s.counts.ThrottledNS += d.Nanoseconds()
	s.counts.ThrottledPeriods++
}

// sampling is the tracer's sampling interval.
const sampling = 100 * time.Millisecond

// tick takes a sample if one is due. Idle ranks sleep: they use no CPU.
func (s *process) tick() {
	s.counts.VoluntarySwitches++
	if last := s.samples[len(s.samples)-1].MonotonicNS; simulate.BootNS+s.Now().Nanoseconds() >= last+sampling.Nanoseconds() {
		s.samples = append(s.samples, s.sample())
	}
}

func (s *process) sample() trace.ContextSample {
	c := s.counts
	c.MonotonicNS = simulate.BootNS + s.Now().Nanoseconds()
	return c
}

// haloBytes is the message size of the programs.
const haloBytes = 1024

// iterate is one iteration of the program. Each phase has its own call sites.
func (s *process) iterate(i int) {
	line := 100 * (s.plant.phaseOf(i) % s.plant.Phases)
	switch s.plant.Program {
	case Halo:
		s.halo(i, line+20)
	case Lockstep:
		s.lockstep(i, line+30)
	case Exchange:
		s.exchange(i, line+40)
	case Grid:
		s.grid(i, line+50)
	}
}

// phaseOf returns the third of the run that an iteration belongs to.
func (p *Plant) phaseOf(iteration int) int { return min(2, 3*iteration/max(1, p.Iterations)) }

func (s *process) halo(i, line int) {
	n, me, world := s.plant.Ranks, s.Rank.Rank(), s.World()
	next, previous := (me+1)%n, (me+n-1)%n
	requests := []*simulate.Request{
		s.At(line).Irecv(world, previous, 0, haloBytes), s.At(line+1).Irecv(world, next, 1, haloBytes),
		s.At(line+2).Isend(world, next, 0, haloBytes), s.At(line+3).Isend(world, previous, 1, haloBytes),
	}
	s.work(0, i)
	s.At(line + 4).Waitall(requests)
	s.work(1, i)
	s.At(line+6).Sendrecv(world, next, 2, haloBytes, previous, 2)
	s.work(2, i)
	if (i+1)%5 == 0 {
		s.At(line+8).Allreduce(world, 8)
	}
}

func (s *process) lockstep(i, line int) {
	s.work(0, i)
	s.At(line).Allreduce(s.World(), 8)
	s.work(1, i)
	s.At(line+2).Alltoall(s.World(), 64)
	s.work(2, i)
	s.At(line + 4).Barrier(s.World())
}

func (s *process) exchange(i, line int) {
	n, me, world := s.plant.Ranks, s.Rank.Rank(), s.World()
	s.work(0, i)
	if partner := me ^ 1<<(i%max(1, bits.Len(uint(n-1)))); partner < n {
		s.At(line).Sendrecv(world, partner, 0, haloBytes, partner, 0)
	}
	s.work(1, i)
	s.At(line+2).Bcast(world, 0, 64)
	s.work(2, i)
	s.At(line+4).Reduce(world, 0, 64)
}

func (s *process) grid(i, line int) {
	n, me, world := s.plant.Ranks, s.Rank.Rank(), s.World()
	width := int(math.Sqrt(float64(n)))
	for n%width != 0 {
		width--
	}
	peers := [4]int{-1, -1, -1, -1} // west, east, north, south
	if me%width > 0 {
		peers[0] = me - 1
	}
	if me%width < width-1 {
		peers[1] = me + 1
	}
	if me >= width {
		peers[2] = me - width
	}
	if me < n-width {
		peers[3] = me + width
	}
	var requests []*simulate.Request
	for k, peer := range peers {
		if peer >= 0 {
			requests = append(requests, s.At(line).Irecv(world, peer, k^1, haloBytes))
		}
	}
	for k, peer := range peers {
		if peer >= 0 {
			requests = append(requests, s.At(line+1).Isend(world, peer, k, haloBytes))
		}
	}
	s.work(0, i)
	s.At(line + 2).Waitall(requests)
	s.work(1, i)
	s.At(line+4).Allreduce(world, 8)
	s.work(2, i)
}
