package scaling

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Requirements of a model.
const (
	minTimeSizes = 5 // for models of measurements, as with Extra-P
	minPairSizes = 7 // for two terms: three coefficients and two exponents leave two sizes to check

	growthAlpha = 0.05 // probability of taking chance for growth
	pairAlpha   = 0.01 // and for a second term
	// of the region around the best hypothesis: hypotheses in it are not refuted, and the
	// simplest one is used
	confidence = 0.9

	exactly = 1e-9 // maximum relative error of a fit that matches a count
	floor   = 1e-3 // minimum relative error of times: measurements are never exact

	maxError = 0.20 // maximum leave-one-out error of a model
)

// A noise is the relative variance of a size's value, estimated from repeats of the same sizes.
type noise struct {
	variance float64
	freedom  int // degrees of freedom; 0: there are no repeats
}

// A choice is a model with its uncertainty.
type choice struct {
	*fit
	exact  bool
	others []*fit  // hypotheses that the data do not refute, including the model
	sigma  float64 // standard deviation of a relative error
	t      float64 // half width of the interval of a prediction, in sigmas
}

// chooseExact returns the simplest form that matches all points, nil if there is none. There has to
// be one more point than coefficients, and two more if it has two terms.
func chooseExact(points []point, limit float64) *choice {
	n, scale := len(points), scales(points)
	meets := func(f *fit) bool {
		if !f.solve(points, scale) || !f.possible(points, limit) {
			return false
		}
		for i, one := range points {
			if math.Abs(f.at(one.p)-one.y) > exactly*scale[i] {
				return false
			}
		}
		return true
	}
	try := func(list []*fit) *choice {
		for _, f := range list {
			if meets(f) {
				return &choice{fit: f, exact: true, others: []*fit{f}}
			}
		}
		return nil
	}
	if n < 2 {
		return nil
	}
	if c := try([]*fit{{constant: true}}); c != nil || n < 3 {
		return c
	}
	if c := try(singles()); c != nil || n < 5 {
		return c
	}
	return try(pairs())
}

// singles returns the hypotheses of one term, simple ones first: without a constant, and with one.
func singles() []*fit {
	list := make([]*fit, 0, 2*len(candidates))
	for i := range candidates {
		c := &candidates[i]
		list = append(list, &fit{terms: []Term{c.Term}, tier: c.tier}, &fit{terms: []Term{c.Term}, constant: true, tier: c.tier})
	}
	return list
}

// pairs returns the hypotheses of two terms, simple ones first.
func pairs() []*fit {
	var list []*fit
	for i := range candidates {
		for j := range candidates[:i] {
			a, b := &candidates[i], &candidates[j]
			if tier := max(a.tier, b.tier); tier <= maxPairTier {
				terms := []Term{a.Term, b.Term}
				list = append(list, &fit{terms: terms, tier: tier}, &fit{terms: terms, constant: true, tier: tier})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *fit) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(len(a.row(1)), len(b.row(1))))
	})
	return list
}

// solved returns the hypotheses that can be true.
func solved(list []*fit, points []point, scale []float64, limit float64) []*fit {
	return slices.DeleteFunc(list, func(f *fit) bool { return !f.solve(points, scale) || !f.possible(points, limit) })
}

// A selector compares hypotheses for some points.
type selector struct {
	points []point
	noise  noise
}

// sum returns what a hypothesis leaves unexplained: its residual, the variance of repeats, and the
// minimum error.
func (s *selector) sum(f *fit) float64 {
	return f.residual + float64(s.noise.freedom)*s.noise.variance + float64(len(s.points))*floor*floor
}

// freedom returns the degrees of freedom of hypotheses with the given number of parameters; the
// choice of an exponent is one.
func (s *selector) freedom(parameters int) float64 {
	return float64(max(1, len(s.points)-parameters+s.noise.freedom))
}

// better returns the probability that chance lowers the residual as far as f does. f has that many
// parameters, more of them than simple.
func (s *selector) better(f, simple *fit, parameters, more int) float64 {
	freedom := s.freedom(parameters)
	ratio := (s.sum(simple) - s.sum(f)) / float64(more) / (s.sum(f) / freedom)
	return 1 - distuv.F{D1: float64(more), D2: freedom}.CDF(max(0, ratio))
}

// best returns the hypothesis with the smallest sum.
func (s *selector) best(list []*fit) *fit {
	return slices.MinFunc(list, func(a, b *fit) int { return cmp.Compare(a.residual, b.residual) })
}

// within returns the hypotheses in a confidence region around the best one, along the exponent.
func (s *selector) within(list []*fit, best *fit, parameters int) []*fit {
	freedom := s.freedom(parameters)
	limit := s.sum(best) * (1 + distuv.F{D1: 1, D2: freedom}.Quantile(confidence)/freedom)
	var in []*fit
	for _, f := range list {
		if s.sum(f) <= limit {
			in = append(in, f)
		}
	}
	return in
}

// choose chooses the model of values measured at five sizes or more.
func choose(points []point, n noise, limit float64) *choice {
	s, scale := &selector{points, n}, scales(points)
	constant := &fit{constant: true}
	if !constant.solve(points, scale) {
		return nil
	}
	list := solved(singles(), points, scale, limit)
	if len(list) == 0 {
		return s.constant(constant, list)
	}
	best, parameters := s.best(list), 3
	alpha := growthAlpha
	if len(points) >= minPairSizes {
		alpha -= pairAlpha // chance has a second try
	}
	grows := s.better(best, constant, parameters, 2) < alpha
	if len(points) >= minPairSizes {
		before, more := best, 2 // parameters
		if !grows {
			before, more = constant, 4
		}
		if two := solved(pairs(), points, scale, limit); len(two) > 0 {
			if second := s.best(two); s.better(second, before, 5, more) < pairAlpha {
				list, best, parameters, grows = two, second, 5, true
			}
		}
	}
	if !grows {
		return s.constant(constant, list)
	}
	others := s.within(list, best, parameters)
	simplest := slices.MinFunc(others, func(a, b *fit) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.left, b.left))
	})
	return s.withAlternatives(simplest, others, best, parameters)
}
