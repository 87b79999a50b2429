package scaling

import (
	"fmt"
	"math"
)

// A Term is p^(Num/Den) · log2(p)^Log.
type Term struct {
	Num int `json:"exponent_numerator"`
	Den int `json:"exponent_denominator"` // positive
	Log int `json:"log_exponent"`
}

// Exponent returns the exponent of p.
func (t Term) Exponent() float64 { return float64(t.Num) / float64(t.Den) }

// At returns the term's value for p ranks.
func (t Term) At(p float64) float64 {
	v := math.Pow(p, t.Exponent())
	for range t.Log {
		v *= math.Log2(p)
	}
	return v
}

// grows reports whether the term is unbounded.
func (t Term) grows() bool { return t.Num > 0 || t.Num == 0 && t.Log > 0 }

// String returns the term in a formula.
func (t Term) String() string {
	power, log := "", ""
	switch {
	case t.Num == 0:
	case t.Num == t.Den:
		power = "p"
	case t.Num == -t.Den:
		power = "p^-1"
	case t.Den == 1:
		power = fmt.Sprintf("p^%d", t.Num)
	default:
		power = fmt.Sprintf("p^(%d/%d)", t.Num, t.Den)
	}
	switch t.Log {
	case 0:
	case 1:
		log = "log2(p)"
	default:
		log = fmt.Sprintf("log2(p)^%d", t.Log)
	}
	if power != "" && log != "" {
		return power + "·" + log
	}
	return power + log
}

// A candidate is a term that models may have. Terms of lower tiers are preferred: programs have p,
// log2(p) and their products in their loops, roots if they divide a plane or a cube, and quarters
// hardly ever.
type candidate struct {
	Term
	tier int
}

// candidates are the exponents of Extra-P (SC 2013, §2.2), without those above 3, and with negative
// ones for strong scaling.
var candidates = []candidate{
	{Term{0, 1, 1}, 0}, {Term{1, 1, 0}, 0}, {Term{1, 1, 1}, 0}, {Term{2, 1, 0}, 0}, {Term{1, 2, 0}, 0},
	{Term{-1, 1, 0}, 0}, {Term{-1, 2, 0}, 0},
	{Term{0, 1, 2}, 1}, {Term{1, 3, 0}, 1}, {Term{2, 3, 0}, 1}, {Term{3, 2, 0}, 1}, {Term{3, 1, 0}, 1},
	{Term{1, 2, 1}, 1}, {Term{2, 1, 1}, 1}, {Term{-1, 1, 1}, 1}, {Term{-2, 3, 0}, 1}, {Term{-1, 3, 0}, 1}, {Term{-2, 1, 0}, 1},
	{Term{4, 3, 0}, 2}, {Term{5, 3, 0}, 2}, {Term{5, 2, 0}, 2}, {Term{1, 1, 2}, 2}, {Term{3, 2, 1}, 2}, {Term{-3, 2, 0}, 2},
	{Term{1, 2, 2}, 2}, {Term{2, 3, 1}, 2}, {Term{1, 3, 1}, 2}, {Term{-4, 3, 0}, 2}, {Term{-1, 2, 1}, 2},
	{Term{1, 4, 0}, 3}, {Term{3, 4, 0}, 3}, {Term{5, 4, 0}, 3}, {Term{7, 4, 0}, 3}, {Term{1, 4, 1}, 3}, {Term{3, 4, 1}, 3},
	{Term{5, 4, 1}, 3}, {Term{1, 3, 2}, 3}, {Term{2, 3, 2}, 3}, {Term{4, 3, 1}, 3}, {Term{5, 3, 1}, 3}, {Term{2, 1, 2}, 3},
	{Term{3, 2, 2}, 3}, {Term{-1, 4, 0}, 3}, {Term{-3, 4, 0}, 3},
}

// maxPairTier is the maximum tier of terms in models of two.
const maxPairTier = 1
