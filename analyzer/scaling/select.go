package scaling

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// What there has to be for a model, and how sure it has to be.
const (
	minTimeSizes = 5 // for models of what is measured, as with Extra-P
	minPairSizes = 7 // for two terms: three coefficients and two exponents leave two sizes to check

	growthAlpha = 0.05 // how often chance may be taken for growth
	pairAlpha   = 0.01 // and for a second term
	confidence  = 0.9  // of the region around the best hypothesis: what is in it is not refuted, and the simplest is taken

	exactly = 1e-9 // relative error up to which a fit has met a count
	floor   = 1e-3 // relative error of times that is always there: what is measured is never exact

	maxError = 0.20 // of leave-one-out, up to which there is a model
)

// A noise is what repeats at the same sizes show of the relative variance of a size's value.
type noise struct {
	variance float64
	freedom  int // how many values it is from, beyond the sizes' own; 0: there are no repeats
}

// A choice is a model and what there is to say about how sure it is.
type choice struct {
	*fit
	exact  bool
	others []*fit  // hypotheses that the data do not refute, the model among them
	sigma  float64 // standard deviation of a relative error
	t      float64 // how many of them a prediction may be off
}

// chooseExact finds the simplest form that meets all points, nil if there is none. It has to meet one more than it has
// coefficients, and two more if it has two terms.
func chooseExact(points []point, most float64) *choice {
	n, scale := len(points), scales(points)
	meets := func(f *fit) bool {
		if !f.solve(points, scale) || !f.possible(points, most) {
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

// singles are the hypotheses of one term, simple ones first: without a constant, and with one.
func singles() []*fit {
	list := make([]*fit, 0, 2*len(candidates))
	for i := range candidates {
		c := &candidates[i]
		list = append(list, &fit{terms: []Term{c.Term}, tier: c.tier}, &fit{terms: []Term{c.Term}, constant: true, tier: c.tier})
	}
	return list
}

// pairs are the hypotheses of two terms, simple ones first.
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

// solved are the hypotheses that can be true.
func solved(list []*fit, points []point, scale []float64, most float64) []*fit {
	return slices.DeleteFunc(list, func(f *fit) bool { return !f.solve(points, scale) || !f.possible(points, most) })
}

// A selector compares hypotheses about some points.
type selector struct {
	points []point
	noise  noise
}

// sum is what a hypothesis leaves unexplained: its residual, what repeats scatter, and what is never exact.
func (s *selector) sum(f *fit) float64 {
	return f.residual + float64(s.noise.freedom)*s.noise.variance + float64(len(s.points))*floor*floor
}

// freedom is how many values are left to check hypotheses with so many parameters; the choice of an exponent is one.
func (s *selector) freedom(parameters int) float64 {
	return float64(max(1, len(s.points)-parameters+s.noise.freedom))
}

// better is the probability that chance lowers what is left unexplained as far as f does, with so many parameters of which
// some are more than simple has.
func (s *selector) better(f, simple *fit, parameters, more int) float64 {
	freedom := s.freedom(parameters)
	ratio := (s.sum(simple) - s.sum(f)) / float64(more) / (s.sum(f) / freedom)
	return 1 - distuv.F{D1: float64(more), D2: freedom}.CDF(max(0, ratio))
}

// best leaves the least unexplained.
func (s *selector) best(list []*fit) *fit {
	return slices.MinFunc(list, func(a, b *fit) int { return cmp.Compare(a.residual, b.residual) })
}

// within are the hypotheses in a confidence region around the best one, along the exponent.
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

// choose finds the model of what was measured at five sizes or more.
func choose(points []point, n noise, most float64) *choice {
	s, scale := &selector{points, n}, scales(points)
	constant := &fit{constant: true}
	if !constant.solve(points, scale) {
		return nil
	}
	list := solved(singles(), points, scale, most)
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
		if two := solved(pairs(), points, scale, most); len(two) > 0 {
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
	return s.sure(simplest, others, best, parameters)
}
