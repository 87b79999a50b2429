package causes_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A course is how long each rank computes in each iteration, in ms, with and without the problem.
type course struct{ with, without [][]float64 }

// newCourse draws one of equal ranks with some noise.
func newCourse(random *rand.Rand, least int) *course {
	ranks, iterations, usual := least+random.IntN(10), 60+random.IntN(500), 2+8*random.Float64()
	c := &course{}
	for range iterations {
		var with, without []float64
		for range ranks {
			ms := usual * (1 + 0.05*random.Float64())
			with, without = append(with, ms), append(without, ms)
		}
		c.with, c.without = append(c.with, with), append(c.without, without)
	}
	return c
}

// trace returns the trace of a program with a collective in each iteration, and by how much longer
// it takes with the problem, in s.
func (c *course) trace() (b *tracetest.Builder, costs float64) {
	ends, now := []float64{}, 1.0
	longest := func(list []float64) (most float64) {
		for _, ms := range list {
			most = max(most, ms)
		}
		return most
	}
	for i := range c.with {
		costs += (longest(c.with[i]) - longest(c.without[i])) / 1e3
		now += longest(c.with[i]) + 0.01
		ends = append(ends, now)
	}
	b = tracetest.New(len(c.with[0]))
	b.Ranks(func(rank int, r *tracetest.Rank) {
		r.At("v.c:1").Init(0, 1)
		begin := 1.0
		for i := range c.with {
			r.At("v.c:2").Collective("MPI_Allreduce", begin+c.with[i][rank], ends[i])
			begin = ends[i]
		}
		r.At("v.c:3").Finalize(begin, begin+1)
	})
	return b, costs
}

// Random programs that are slow at some times on no rank in particular: the cause has the form of
// the problem, and its gain is what the problem costs.
func TestVariation(t *testing.T) {
	for form, c := range map[verdict.Form]struct {
		ranks int // at least
		plant func(random *rand.Rand, c *course)
		text  string
	}{
		verdict.WarmUp: {1, func(random *rand.Rand, c *course) {
			first := 1 + random.IntN(6)
			longer := 0.3 * c.with[0][0] * float64(len(c.with)) / float64(first)
			for i := range first {
				for r := range c.with[i] {
					c.with[i+1][r] += longer // the region between two calls begins after the first one
				}
			}
		}, `^A slow start makes this job slow: the ranks compute for \d+(\.\d)? m?s (in each of the first \d|the first) of \d+ times between two calls of MPI_Allreduce at v.c:2, later for \d+(\.\d+)? ms\. Without`},
		verdict.Drift: {1, func(random *rand.Rand, c *course) {
			slope := (2 + 8*random.Float64()) / float64(len(c.with))
			for i := range c.with {
				for r := range c.with[i] {
					c.with[i][r] *= 1 + slope*float64(i)
				}
			}
		}, `^This job becomes ever slower: the ranks compute for \d+(\.\d+)? ms each time between two calls of MPI_Allreduce at v.c:2 at first, and for \d+(\.\d+)? ms in the end\. Without`},
		verdict.Once: {1, func(random *rand.Rand, c *course) {
			i, seconds := 20+random.IntN(len(c.with)-21), 1+2*random.Float64()
			all, last := random.IntN(2) == 0, len(c.with[i])-1
			for range 16 { // it is a little late now and then, as everything is
				j, ms := random.IntN(len(c.with)), 8*seconds*random.Float64()
				c.with[j][last], c.without[j][last] = c.with[j][last]+ms, c.without[j][last]+ms
			}
			for r := range c.with[i] {
				if all || r == last {
					c.with[i][r] += 1e3 * seconds
				}
			}
		}, `^A single long computation makes this job slow: (the ranks compute|rank \d+ computes) for \d(\.\d)? s in one of \d+ times \(the \d+(st|nd|rd|th)\) between two calls of MPI_Allreduce at v.c:2, otherwise for \d+(\.\d+)? ms\. Without`},
		verdict.Sometimes: {4, func(random *rand.Rand, c *course) {
			events := 4 + random.IntN(max(1, len(c.with)/50))
			longer := 2e3 / float64(events)
			for _, i := range random.Perm(len(c.with) - 1)[:events] {
				c.with[i+1][random.IntN(len(c.with[i]))] += longer
			}
		}, `^Rare long computations make this job slow: \d+ of [\d,]+, now on one rank and now on another, take \d+ ms between two calls of MPI_Allreduce at v.c:2; the others take \d+(\.\d+)? ms there\. Without`},
	} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprint(form, " ", seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 33))
				course := newCourse(random, c.ranks)
				c.plant(random, course)
				b, costs := course.trace()
				v := find(t, b.Content()).Verdict
				require.Equal(t, verdict.Variation, v.Blames, v.Text)
				assert.Equal(t, form, v.Causes[0].Form, v.Text)
				assert.Regexp(t, c.text, v.Text)
				if form == verdict.Drift {
					assert.InEpsilon(t, costs, *v.GainSeconds, 0.25, "what is normal is a matter of taste: here the first quarter")
				} else {
					assert.InEpsilon(t, costs, *v.GainSeconds, 0.1, v.Text)
				}
			})
		}
	}
}

// What varies by itself is no variation: every so many iterations something is done on all ranks,
// levels of different sizes, noise, a rank that is slow now and then, work that moves.
func TestNoVariation(t *testing.T) {
	for name, plant := range map[string]func(random *rand.Rand, c *course){
		"every so many iterations": func(random *rand.Rand, c *course) {
			every := 8 + random.IntN(12)
			for i := range c.with {
				for r := range c.with[i] {
					if i%every == every-1 {
						c.with[i][r] += 100
					}
				}
			}
		},
		"levels": func(_ *rand.Rand, c *course) {
			for i := range c.with {
				for r := range c.with[i] {
					c.with[i][r] *= float64(int(1) << (2 * (i % 5)))
				}
			}
		},
		"noise": func(random *rand.Rand, c *course) {
			for i := range c.with {
				for r := range c.with[i] {
					c.with[i][r] *= 1 + 0.8*random.Float64()
				}
			}
		},
		"one rank": func(random *rand.Rand, c *course) {
			for i := range c.with {
				if random.IntN(15) == 0 {
					c.with[i][2] += 60
				}
			}
		},
		"moving": func(_ *rand.Rand, c *course) {
			for i := range c.with {
				c.with[i][i%len(c.with[i])] *= 3
			}
		},
		"less and less": func(_ *rand.Rand, c *course) {
			for i := range c.with {
				for r := range c.with[i] {
					c.with[i][r] *= 3 - 2.5*float64(i)/float64(len(c.with))
				}
			}
		},
	} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 34))
				course := newCourse(random, 4)
				plant(random, course)
				b, _ := course.trace()
				v := find(t, b.Content()).Verdict
				for _, c := range v.Causes {
					assert.NotEqual(t, verdict.Variation, c.Kind, v.Text)
				}
			})
		}
	}
}

// Rank 0 of two is long in a few of 100 iterations. By chance five of five may be on one rank; six
// of six are not (1 in 32), and it is that rank's.
func TestRareOnOneOfTwo(t *testing.T) {
	for n, kind := range map[int]verdict.Kind{5: verdict.Variation, 6: verdict.Excess} {
		c := &course{}
		for i := range 100 {
			long := 14.0
			if i%16 == 10 && i/16 < n {
				long = 90
			}
			c.with, c.without = append(c.with, []float64{long, 14}), append(c.without, []float64{14, 14})
		}
		b, costs := c.trace()
		v := judged(t, b)
		require.Equal(t, kind, v.Blames, v.Text)
		assert.Equal(t, verdict.Sometimes, v.Causes[0].Form)
		assert.InEpsilon(t, costs, *v.GainSeconds, 0.01, v.Text)
		if kind == verdict.Variation {
			assert.Contains(t, v.Text, ": 5 of 198, all of them on rank 0 so far, take 90.2 ms")
		} else {
			assert.Contains(t, v.Text, "Rank 0 makes this job slow: it computes for 90.2 ms in 6 of 99 times")
		}
	}
}
