package scaling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestRates(t *testing.T) {
	truths := []Term{{0, 1, 0}, {0, 1, 1}, {1, 1, 0}, {1, 1, 1}, {1, 2, 0}, {-1, 1, 0}}
	sizeSets := [][]float64{{2, 4, 8, 16, 32}, {4, 8, 16, 32, 64, 128}, {2, 4, 8, 16, 32, 64, 128}}
	for _, sizes := range sizeSets {
		for _, repeats := range []int{1, 3} {
			for _, sigma := range []float64{0, 0.02, 0.05} {
				random := rand.New(rand.NewPCG(1, 2))
				hit, err4, err16, in4, in16, w16, n := map[Term]int{}, map[Term]float64{}, map[Term]float64{}, 0, 0, 0.0, 150
				for _, term := range truths {
					for range n {
						// the term is 20% to 95% of the value at one end
						share := 0.2 + 0.75*random.Float64()
						big := math.Max(term.At(sizes[0]), term.At(sizes[len(sizes)-1]))
						if (term == Term{}) {
							big = 1
						}
						f := func(p float64) float64 { return (1 - share) + share*term.At(p)/big }
						var points []point
						var nz noise
						for _, p := range sizes {
							var ys []float64
							for range repeats {
								ys = append(ys, f(p)*(1+sigma*random.NormFloat64()))
							}
							y, v := center(ys)
							points = append(points, point{p, y})
							nz.variance += v
							nz.freedom += len(ys) - 1
						}
						nz.variance /= float64(len(sizes))
						last := sizes[len(sizes)-1]
						c := choose(points, nz, 16*last)
						if len(c.terms) == 0 && term == (Term{0, 1, 0}) || len(c.terms) == 1 && c.terms[0] == term {
							hit[term]++
						}
						e4, e16 := math.Abs(c.at(4*last)/f(4*last)-1), math.Abs(c.at(16*last)/f(16*last)-1)
						err4[term] += e4 / float64(n)
						err16[term] += e16 / float64(n)
						l, h := c.interval(4 * last)
						if l <= f(4*last)*1.0001 && f(4*last) <= h*1.0001 {
							in4++
						}
						l, h = c.interval(16 * last)
						if l <= f(16*last)*1.0001 && f(16*last) <= h*1.0001 {
							in16++
						}
						w16 += math.Log((h + 1e-9) / (l + 1e-9))
					}
				}
				fmt.Printf("n=%d r=%d s=%.2f:", len(sizes), repeats, sigma)
				for _, term := range truths {
					fmt.Printf("  %s %d%% (%.0f%%, %.0f%%)", term, 100*hit[term]/n, 100*err4[term], 100*err16[term])
				}
				fmt.Printf("  cover %d%% %d%% width %.1f\n", 100*in4/n/len(truths), 100*in16/n/len(truths), math.Exp(w16/float64(n*len(truths))))
			}
		}
	}
}
