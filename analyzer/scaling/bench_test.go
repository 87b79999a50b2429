package scaling_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/scaling"
)

// usual are the terms that programs have: a simple one is right where it fits. others are the
// rest of the list.
var (
	usual  = []scaling.Term{{Num: 0, Den: 1, Log: 1}, {Num: 1, Den: 1}, {Num: 1, Den: 1, Log: 1}, {Num: 2, Den: 1}, {Num: 1, Den: 2}, {Num: -1, Den: 1}, {Num: -1, Den: 2}}
	others = []scaling.Term{{Num: 2, Den: 3}, {Num: 1, Den: 3}, {Num: 3, Den: 2}, {Num: 3, Den: 4}, {Num: 1, Den: 2, Log: 1}, {Num: 0, Den: 1, Log: 2}, {Num: 4, Den: 3}, {Num: -2, Den: 3}}
)

// random is a program of five computations: two that do not grow, two with a usual term, and
// one with another. Each is 1 to 10 ms at the size at which it is largest, of which the term is
// a fifth at least.
func randomProgram(random *rand.Rand, sizes []int, noise float64) program {
	p := program{iterations: 2, noise: noise}
	for i := range 5 {
		g := growth{base: 1 + 9*random.Float64()}
		if i >= 2 {
			terms := usual
			if i == 4 {
				terms = others
			}
			g.term = terms[random.IntN(len(terms))]
			first, last := float64(sizes[0]), float64(sizes[len(sizes)-1])
			share := 0.2 + 0.75*random.Float64()
			g.factor = g.base * share / max(g.term.At(first), g.term.At(last))
			g.base *= 1 - share
		}
		p.growths = append(p.growths, g)
	}
	return p
}

// rates are what comes of many programs.
type rates struct {
	usual, right, otherTerms, rightOthers int
	constants, falseAlarms                int
	// relative errors of what grows at 4 and at 16 times the largest size
	near, far         []float64
	inside, intervals int
	hurt, rightHurt   int
}

func (r *rates) add(p program, f *scaling.Findings, sizes []int) {
	last := sizes[len(sizes)-1]
	found := computations(f, len(p.growths))
	for i, g := range p.growths {
		m := found[i].Seconds.Model
		is := m != nil && len(m.Terms) == 1 && m.Terms[0].Term == g.term
		switch {
		case i < 2:
			r.constants++
			if m == nil || len(m.Terms) > 0 {
				r.falseAlarms++
			}
		case i < 4:
			r.usual++
			if is {
				r.right++
			}
		default:
			r.otherTerms++
			if is {
				r.rightOthers++
			}
		}
		if m == nil || i < 2 {
			continue
		}
		for k, list := range []*[]float64{&r.near, &r.far} {
			one := found[i].Predicted[k]
			truth := g.at(float64(one.Ranks)) / 1e3 * p.times(i)
			*list = append(*list, math.Abs(one.Seconds/truth-1))
			r.intervals++
			if *one.Low <= truth*1.001 && truth <= *one.High*1.001 {
				r.inside++
			}
		}
	}
	if worst := p.worst(last, 16*last); worst >= 0 {
		r.hurt++
		if f.HurtsFirst != nil && f.Regions[*f.HurtsFirst].CallSite == line(worst) {
			r.rightHurt++
		}
	}
}

// times is how often a computation is that which computations gives: the first one is
// once after MPI_Init.
func (p program) times(region int) float64 {
	if region == 0 {
		return float64(p.iterations - 1)
	}
	return float64(p.iterations)
}

// worst is the computation whose share of the program grows most, −1 if the second one grows nearly
// as much or none grows by a tenth of the program.
func (p program) worst(from, to int) int {
	total := func(ranks int) (sum float64) {
		for _, g := range p.growths {
			sum += g.at(float64(ranks))
		}
		return sum
	}
	type grown struct {
		region int
		share  float64
	}
	var all []grown
	for i, g := range p.growths {
		all = append(all, grown{i, g.at(float64(to))/total(to) - g.at(float64(from))/total(from)})
	}
	slices.SortFunc(all, func(a, b grown) int { return -cmp.Compare(a.share, b.share) })
	if all[0].share < 0.1 || all[1].share > 0.8*all[0].share {
		return -1
	}
	return all[0].region
}

func quantile(list []float64, q float64) float64 {
	slices.Sort(list)
	return list[int(q*float64(len(list)-1))]
}

// BenchmarkRates says how often models of random programs are right.
func BenchmarkRates(b *testing.B) {
	const programs = 60
	for _, sizes := range [][]int{{2, 4, 8, 16, 32}, {2, 4, 8, 16, 32, 64, 128}} {
		for _, each := range []int{1, 3} {
			for _, noise := range []float64{0, 0.02, 0.05} {
				b.Run(fmt.Sprintf("sizes=%d/runs=%d/noise=%.0f%%", len(sizes), each, 100*noise), func(b *testing.B) {
					for range b.N {
						var r rates
						random := rand.New(rand.NewPCG(uint64(len(sizes)), uint64(each)))
						for range programs {
							p := randomProgram(random, sizes, noise)
							last := sizes[len(sizes)-1]
							f := analyzed(b, p.runs(b, sizes, each, random), 4*last, 16*last)
							r.add(p, &f, sizes)
						}
						percent := func(part, of int) float64 { return 100 * float64(part) / float64(max(1, of)) }
						b.ReportMetric(percent(r.right, r.usual), "%right-term")
						b.ReportMetric(percent(r.rightOthers, r.otherTerms), "%right-rare-term")
						b.ReportMetric(percent(r.falseAlarms, r.constants), "%false-alarms")
						b.ReportMetric(100*quantile(r.near, 0.5), "%error-4x")
						b.ReportMetric(100*quantile(r.near, 0.9), "%error-4x-p90")
						b.ReportMetric(100*quantile(r.far, 0.5), "%error-16x")
						b.ReportMetric(100*quantile(r.far, 0.9), "%error-16x-p90")
						b.ReportMetric(percent(r.inside, r.intervals), "%in-interval")
						b.ReportMetric(percent(r.rightHurt, r.hurt), "%right-hurts-first")
					}
				})
			}
		}
	}
}
