package scaling

import (
	"math"
	"strings"
)

// newModel describes a choice. unit formats a coefficient.
func newModel(c *choice, sizes int, unit func(float64) string) *Model {
	m := &Model{Exact: c.exact, Error: 100 * c.left, Sizes: sizes, Terms: []Coefficient{}, choice: c}
	if c.exact {
		m.Error = 0
	}
	rest := c.coefficients
	if c.constant {
		m.Constant, rest = rest[0], rest[1:]
	}
	for i, t := range c.terms {
		m.Terms = append(m.Terms, Coefficient{rest[i], t})
	}
	m.Formula = m.words(unit)
	return m
}

// words returns the formula.
func (m *Model) words(unit func(float64) string) string {
	var b strings.Builder
	part := func(v float64, term string) {
		switch {
		case b.Len() == 0 && v < 0:
			b.WriteString("-")
		case b.Len() == 0:
		case v < 0:
			b.WriteString(" - ")
		default:
			b.WriteString(" + ")
		}
		size := unit(rounded(math.Abs(v), m.Exact))
		switch {
		case term == "":
			b.WriteString(size)
		case size == "1":
			b.WriteString(term)
		default:
			b.WriteString(size + "·" + term)
		}
	}
	if m.Constant != 0 || len(m.Terms) == 0 {
		part(m.Constant, "")
	}
	for _, t := range m.Terms {
		part(t.Value, t.String())
	}
	return b.String()
}

// rounded returns a coefficient of an exact model without its last digits, which are rounding
// errors.
func rounded(v float64, exact bool) float64 {
	if whole := math.Round(v); exact && math.Abs(v-whole) <= 1e-6*max(1, v) {
		return whole
	}
	return v
}
