package scaling

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// withAlternatives returns a model with the hypotheses that could also be true.
func (s *selector) withAlternatives(model *fit, others []*fit, best *fit, parameters int) *choice {
	freedom := s.freedom(parameters)
	return &choice{
		fit: model, others: others, sigma: math.Sqrt(s.sum(best) / freedom),
		t: distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2),
	}
}

// constant returns the model of something without detected growth. The other hypotheses are growing
// terms with the simplest exponents (such as the logarithm, which is common) that could have
// remained undetected.
func (s *selector) constant(model *fit, list []*fit) *choice {
	others := []*fit{model}
	for _, f := range list {
		if f.constant && f.terms[0] == (Term{0, 1, 1}) {
			others = append(others, f)
		}
	}
	return s.withAlternatives(model, others, model, 1)
}

// interval returns the range of the prediction for a size.
func (c *choice) interval(p float64) (low, high float64) {
	if c.exact {
		return c.at(p), c.at(p)
	}
	low, high = math.Inf(1), math.Inf(-1)
	for _, f := range c.others {
		at := f.at(p)
		wide := c.t * c.sigma * f.deviation(p)
		low, high = min(low, at-wide), max(high, at+wide)
	}
	return max(0, low), high
}
