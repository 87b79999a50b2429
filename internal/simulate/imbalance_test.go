package simulate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A division is how much longer than the least a rank of n computes in an iteration.
type division func(rank, iteration int) float64

// divisions are ways to distribute work unequally without a rank, or a set of at most half of the
// ranks, as the reason.
var divisions = map[string]func(r *rand.Rand, n int) division{
	"growing": func(r *rand.Rand, n int) division {
		most := 0.4 + 1.6*r.Float64()
		return func(rank, _ int) float64 { return 1 + most*float64(rank)/float64(n-1) }
	},
	"falling": func(r *rand.Rand, n int) division {
		most := 0.4 + 1.6*r.Float64()
		return func(rank, _ int) float64 { return 1 + most*float64(n-1-rank)/float64(n-1) }
	},
	"two humps": func(r *rand.Rand, n int) division {
		most := 0.5 + 1.5*r.Float64()
		return func(rank, _ int) float64 {
			return 1 + most*math.Abs(math.Sin(2*math.Pi*float64(rank)/float64(n)))
		}
	},
	"most are slow": func(r *rand.Rand, n int) division {
		most, idle := 0.6+1.4*r.Float64(), n/4+r.IntN(n/8+1)
		return func(rank, _ int) float64 {
			if rank < idle {
				return 1
			}
			return 1 + most
		}
	},
	"by chance": func(r *rand.Rand, n int) division {
		of := make([]float64, n)
		for i := range of {
			of[i] = 1 + 1.5*r.Float64()
		}
		return func(rank, _ int) float64 { return of[rank] }
	},
	"in turn": func(r *rand.Rand, n int) division {
		more := 0.5 + 2*r.Float64()
		return func(rank, k int) float64 {
			if k%n == rank {
				return 1 + more
			}
			return 1
		}
	},
	"one by chance each time": func(r *rand.Rand, n int) division {
		more, seed := 0.5+2*r.Float64(), r.Uint64()
		return func(rank, k int) float64 {
			if rand.New(rand.NewPCG(seed, uint64(k))).IntN(n) == rank {
				return 1 + more
			}
			return 1
		}
	},
}

// found analyzes a simulated run.
func found(t *testing.T, c simulate.Config) analyzertest.Findings {
	t.Helper()
	return analyzertest.Content(t, tracetest.Simulated(t, c))
}

// random is a program with work that is distributed in this way.
func random(r *rand.Rand, ranks int) simulate.Config {
	patterns := []string{"stencil2d", "ring", "all-to-all", "butterfly", "two-phase"}
	return simulate.Config{
		Pattern: patterns[r.IntN(len(patterns))], Ranks: ranks, Iterations: 20 + r.IntN(30), Compute: 2 * time.Millisecond, RanksPerNode: 8, Seed: r.Uint64(),
	}
}

// Unequal work is named, whatever the division, the program and the noise. The predicted gain is
// that of a simulation with equal work, within 5%.
func TestUnequalWorkIsNamed(t *testing.T) {
	for name, divide := range divisions {
		t.Run(name, func(t *testing.T) {
			const runs = 8
			named := 0
			for seed := range uint64(runs) {
				r := rand.New(rand.NewPCG(seed, 77))
				c := random(r, []int{8, 16}[r.IntN(2)])
				of := divide(r, c.Ranks)
				moves := name == "in turn" || name == "one by chance each time"
				if seed%2 == 1 && !moves { // where work moves, equal work each time leaves no noise
					c.Imbalance.Noise = 20
				}
				c.Imbalance.Factor = of
				f := found(t, c)
				if f.Verdict.Blames != verdict.Imbalance {
					t.Log(f.Verdict.Text)
					continue
				}
				named++
				i := f.Verdict.Causes[0].Spread
				assert.Equal(t, moves, i.Shape == verdict.ByIteration, f.Verdict.Text)
				c.Imbalance.Factor = func(rank, k int) float64 {
					if moves && k == 0 { // after MPI_Init: another region, in which nothing moves
						return of(rank, k)
					}
					sum := 0.0
					for rank := range c.Ranks {
						sum += of(rank, k)
					}
					return sum / float64(c.Ranks)
				}
				equal := found(t, c).RunSeconds
				assert.InDelta(t, equal, f.RunSeconds-*f.Verdict.GainSeconds, 0.05*equal, f.Verdict.Text)
			}
			assert.GreaterOrEqual(t, named, runs-1)
		})
	}
}

// In a heavy tail the top rank may be the reason, if the others are far below: then it is named,
// otherwise the division is.
func TestHeavyTail(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 78))
		c := random(r, 16)
		of := make([]float64, c.Ranks)
		top := 0
		for i := range of {
			of[i] = math.Pow(1-r.Float64(), -0.5)
			if of[i] > of[top] {
				top = i
			}
		}
		c.Imbalance.Factor = func(rank, _ int) float64 { return of[rank] }
		v := found(t, c).Verdict
		switch v.Blames {
		case verdict.Imbalance:
			assert.Equal(t, top, v.Causes[0].Spread.MaxRank, v.Text)
		default:
			require.NotNil(t, v.Rank, v.Text)
			assert.Equal(t, top, *v.Rank, v.Text)
		}
	}
}

// Equal work is not an imbalance under any noise, nor is work that changes for all ranks from time
// to time.
func TestBalancedIsNoImbalance(t *testing.T) {
	blamed := map[verdict.Kind]int{}
	const runs = 60
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 79))
		c := random(r, []int{4, 8, 16}[r.IntN(3)])
		c.Imbalance.Noise = float64(seed%5) * 10
		if seed%4 == 0 {
			c.Imbalance.Factor = func(_, k int) float64 { return 1 + float64(k%3) }
		}
		blamed[found(t, c).Verdict.Blames]++
	}
	assert.GreaterOrEqual(t, blamed[verdict.Nobody], runs*95/100, "%v", blamed)
}

// A master that hands out tasks of very different lengths has equally busy workers, and
// computes nothing itself.
func TestMasterWithUnequalTasksIsNoImbalance(t *testing.T) {
	for seed := range uint64(10) {
		f := found(t, simulate.Config{Pattern: "master-worker", Ranks: 9, Iterations: 40, Compute: time.Millisecond, Seed: seed, Imbalance: simulate.Imbalance{Noise: 300}})
		assert.Equal(t, verdict.Nobody, f.Verdict.Blames, f.Verdict.Text)
	}
}

// A slow network is still named if work is slightly unequal, too, and unequal work is named if the
// network costs less.
func TestTheNetworkStaysToBlame(t *testing.T) {
	c := simulate.Config{Pattern: "ring", Ranks: 16, Iterations: 40, Compute: time.Millisecond, Model: simulate.Model{Latency: 2_000_000}}
	for _, c.Imbalance.Linear = range []float64{0, 10, 40} {
		for _, c.Imbalance.Noise = range []float64{0, 20} {
			f := found(t, c)
			// one of eight crosses nodes
			assert.Equal(t, verdict.Messages, f.Verdict.Blames, f.Verdict.Text)
		}
	}
	c.Model.Latency, c.Imbalance.Linear = 20_000, 100
	assert.Equal(t, verdict.Imbalance, found(t, c).Verdict.Blames)
}

// Properties that the computation of 16 ranks depends on.
func TestShapesOfImbalance(t *testing.T) {
	levels := []float64{1, 1.9, 2.4, 1.4}
	irregular := []float64{1, 2, 1.7, 1.2, 2.1, 1.1, 1.9, 1.4, 1.3, 1.8, 1, 2.2, 1.6, 1.1, 2, 1.5}
	for name, one := range map[string]struct {
		of      func(rank int) float64
		perNode int
		shape   verdict.Shape
		width   int
		words   string
	}{
		"growing":   {func(rank int) float64 { return 1 + float64(rank)/10 }, 16, verdict.ByRank, 0, "it grows with the rank"},
		"falling":   {func(rank int) float64 { return 3 - float64(rank)/10 }, 16, verdict.ByRank, 0, "it falls with the rank"},
		"node":      {func(rank int) float64 { return levels[rank/4] }, 4, verdict.ByNode, 0, "ranks of one node are alike"},
		"row":       {func(rank int) float64 { return levels[rank/4] }, 16, verdict.ByRow, 4, "each 4 neighbors from rank 0 on are alike"},
		"column":    {func(rank int) float64 { return levels[rank%4] }, 16, verdict.ByColumn, 4, "every 4th rank is alike"},
		"irregular": {func(rank int) float64 { return irregular[rank] }, 16, verdict.Irregular, 0, "rank 11 the longest; they differ"},
	} {
		t.Run(name, func(t *testing.T) {
			v := found(t, simulate.Config{Pattern: "stencil2d", Ranks: 16, Iterations: 30, RanksPerNode: one.perNode, Compute: time.Millisecond,
				Imbalance: simulate.Imbalance{Factor: func(rank, _ int) float64 { return one.of(rank) }}}).Verdict
			require.Equal(t, verdict.Imbalance, v.Blames, v.Text)
			assert.Equal(t, one.shape, v.Causes[0].Spread.Shape)
			assert.Equal(t, one.width, v.Causes[0].Spread.Width)
			assert.Contains(t, v.Text, one.words)
			assert.Equal(t, "MPI_Waitall", v.Causes[0].Before.Function)
			assert.Equal(t, "MPI_Isend", v.Causes[0].After.Function)
		})
	}
}
