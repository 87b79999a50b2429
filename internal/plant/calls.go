package plant

import (
	"math/rand/v2"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// calls are the problems of messages, collectives and files themselves.
var calls = []Kind{
	{
		Name: "many-messages", Real: true,
		About:    "hundreds or thousands of messages of 8 bytes in each iteration, where one would do",
		draw:     func(p *Plant, r *rand.Rand) { p.drawCalls(r, 2500, 1500, 2500) },
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Messages, verdict.TooMany)} },
		effect: func(p *Plant, mended bool) effect {
			count, bytes := p.Count, 8
			if mended {
				count, bytes = 1, 8*p.Count
			}
			return effect{step: func(s *process, _ int) {
				n, me := p.Ranks, s.Rank.Rank()
				for range count {
					s.At(740).Sendrecv(s.World(), (me+1)%n, 74, bytes, (me+n-1)%n, 74)
				}
			}}
		},
	},
	{
		Name: "large-messages", Real: true, About: "messages that take as long as much of the computation",
		draw:     func(p *Plant, r *rand.Rand) { p.drawCalls(r, 100, 15_000_000, 25_000_000) },
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Messages, verdict.TooLarge)} },
		effect: func(p *Plant, mended bool) effect {
			const perByte = 0.1 // of the model, in ns
			bytes := int(p.Severity * float64(p.Work.Nanoseconds()) / perByte)
			if mended {
				bytes = 64
			}
			return effect{step: func(s *process, _ int) {
				n, me := p.Ranks, s.Rank.Rank()
				s.At(750).Sendrecv(s.World(), (me+1)%n, 75, bytes, (me+n-1)%n, 75)
			}}
		},
	},
	{
		Name: "many-collectives", Real: true, About: "a reduction of 8 bytes in an inner loop, where one would do",
		draw:     func(p *Plant, r *rand.Rand) { p.drawCalls(r, 5000, 50, 100) },
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Collectives, verdict.TooOften)} },
		effect: func(p *Plant, mended bool) effect {
			count, bytes := p.Count, 8
			if mended {
				count, bytes = 1, 8*p.Count
			}
			return effect{step: func(s *process, _ int) {
				for range count {
					s.At(760).Allreduce(s.World(), bytes)
				}
			}}
		},
	},
	{
		Name: "large-collectives", Real: true, About: "all ranks exchange large data with all in each iteration",
		draw:     func(p *Plant, r *rand.Rand) { p.drawCalls(r, 0, 4_000_000, 8_000_000) },
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.Collectives, verdict.TooLarge)} },
	},
	{
		Name: "file-io", Real: true,
		About:    "all ranks write to a common file by MPI-IO in each iteration, and wait until it is on disk",
		draw:     func(p *Plant, r *rand.Rand) { p.drawCalls(r, 0, 3, 6) },
		accepted: func(*Plant) []Expected { return []Expected{anybody(verdict.IO)} },
	},
	{
		Name: "start", Real: true, About: "one rank comes late to MPI_Init",
		// 0: it computes; 1: it sleeps
		draw: func(p *Plant, r *rand.Rand) { p.Who, p.Count = p.some(r, 1), r.IntN(2) },
		accepted: func(p *Plant) []Expected {
			return []Expected{anybody(verdict.StartEnd, verdict.Start), excess(p.Who)}
		},
	},
	{
		Name: "end", Real: true, About: "one rank computes alone after the last collective, before MPI_Finalize",
		draw: func(p *Plant, r *rand.Rand) { p.Who = p.some(r, 1) },
		accepted: func(p *Plant) []Expected {
			return []Expected{excess(p.Who)}
		},
		effect: func(p *Plant, mended bool) effect {
			return effect{end: func(s *process) {
				if !mended && s.Rank.Rank() == p.Who[0] {
					s.compute(time.Duration(p.Severity*float64(p.Work)*float64(p.Iterations)), atEnd, 0)
				}
			}}
		},
	},
}

// drawCalls draws Count, of calls or bytes. In a simulated program each takes the given
// nanoseconds, and all together take the part of the run that severity defines. In a real program
// there are low to high, which takes about as long as the rest of the run, or longer.
func (p *Plant) drawCalls(r *rand.Rand, each float64, low, high int) {
	if p.Real {
		p.Work = time.Duration(1000+r.IntN(500)) * time.Microsecond
		p.Count, p.Iterations = between(r, low, high), p.Iterations/2
		return
	}
	p.restrict(r, 4, 32)
	p.Work = time.Duration(500+r.IntN(1500)) * time.Microsecond
	p.Iterations = min(p.Iterations, 30)
	p.Count = max(2, int(p.Severity*float64(p.Work.Nanoseconds())/each))
}
