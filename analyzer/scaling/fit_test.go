package scaling

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	logarithm = Term{0, 1, 1}
	linear    = Term{1, 1, 0}
	inverse   = Term{-1, 1, 0}
	root      = Term{1, 2, 0}
)

// measuredAt are the values of a function at sizes.
func measuredAt(f func(p float64) float64, sizes ...float64) []point {
	points := make([]point, len(sizes))
	for i, p := range sizes {
		points[i] = point{p, f(p)}
	}
	return points
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		term Term
		text string
		at16 float64
	}{
		{logarithm, "log2(p)", 4}, {linear, "p", 16}, {inverse, "p^-1", 1.0 / 16}, {root, "p^(1/2)", 4}, {Term{2, 1, 0}, "p^2", 256},
		{Term{-1, 4, 0}, "p^(-1/4)", 0.5}, {Term{1, 1, 1}, "p·log2(p)", 64}, {Term{1, 2, 2}, "p^(1/2)·log2(p)^2", 64},
	} {
		assert.Equal(t, c.text, c.term.String())
		assert.InDelta(t, c.at16, c.term.At(16), 1e-12, c.text)
	}
	seen := map[string]bool{}
	for _, c := range candidates {
		assert.False(t, seen[c.String()], "%s is there twice", c)
		seen[c.String()] = true
	}
}

// What solve says of points left out, from their leverage, is what comes of leaving them out.
func TestLeaveOneOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	points := measuredAt(func(p float64) float64 { return (3 + 0.5*p) * (1 + 0.1*random.NormFloat64()) }, 2, 4, 8, 16, 32, 64)
	for _, f := range []*fit{{constant: true}, {terms: []Term{linear}}, {terms: []Term{root}, constant: true}, {terms: []Term{linear, logarithm}, constant: true}} {
		scale := scales(points)
		require.True(t, f.solve(points, scale))
		want := 0.0
		for i, left := range points {
			var others []point
			var theirs []float64
			for k := range points {
				if k != i {
					others, theirs = append(others, points[k]), append(theirs, scale[k])
				}
			}
			again := &fit{terms: f.terms, constant: f.constant}
			require.True(t, again.solve(others, theirs))
			at := again.at(left.p)
			want += 2 * math.Abs(at-left.y) / (math.Abs(at) + left.y) / float64(len(points))
		}
		assert.InDelta(t, want, f.left, 1e-9, "%v", f.terms)
	}
}

// The coefficients are those for which no other ones leave less.
func TestLeastSquares(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	points := measuredAt(func(p float64) float64 { return 1 + 8/p + random.Float64() }, 1, 2, 4, 8, 16, 32)
	f, scale := &fit{terms: []Term{inverse}, constant: true}, scales(points)
	require.True(t, f.solve(points, scale))
	residual := func() (sum float64) {
		for i, one := range points {
			e := (one.y - f.at(one.p)) / scale[i]
			sum += e * e
		}
		return sum
	}
	least := residual()
	assert.InDelta(t, least, f.residual, 1e-12)
	for i := range f.coefficients {
		for _, by := range []float64{0.999, 1.001} {
			kept := f.coefficients[i]
			f.coefficients[i] *= by
			assert.Greater(t, residual(), least)
			f.coefficients[i] = kept
		}
	}
}

func TestExactForms(t *testing.T) {
	for _, c := range []struct {
		what   string
		points []point
		want   string // "": there is none
	}{
		{"a constant", measuredAt(func(float64) float64 { return 12 }, 2, 4), "12"},
		{"two sizes that differ", measuredAt(func(p float64) float64 { return p }, 2, 4), ""},
		{"messages to all others", measuredAt(func(p float64) float64 { return 10 * (p - 1) }, 2, 4, 8), "-10 + 10·p"},
		{"a tree of messages, mean over ranks", measuredAt(func(p float64) float64 { return 2 - 2/p }, 2, 4, 8), "2 - 2·p^-1"},
		{"a butterfly", measuredAt(func(p float64) float64 { return 3 * math.Log2(p) }, 4, 8, 16), "3·log2(p)"},
		{"bytes of a cube's faces", measuredAt(func(p float64) float64 { return 6 * math.Pow(64/math.Cbrt(p), 2) }, 8, 27, 64), "24576·p^(-2/3)"},
		{"two terms from five sizes on", measuredAt(func(p float64) float64 { return 5 + p + 7*math.Log2(p) }, 2, 4, 8, 16, 32), "5 + p + 7·log2(p)"},
		{"two terms, four sizes", measuredAt(func(p float64) float64 { return 5 + p + 7*math.Log2(p) }, 2, 4, 8, 16), ""},
		{"no form", measuredAt(func(p float64) float64 { return math.Sin(p) + 2 }, 2, 4, 8, 16, 32), ""},
	} {
		found := chooseExact(c.points, 1024)
		if c.want == "" {
			assert.Nil(t, found, c.what)
		} else if assert.NotNil(t, found, c.what) {
			assert.Equal(t, c.want, newModel(found, len(c.points), number).Formula, c.what)
		}
	}
}

// Without noise the term is found, and the prediction far away is right.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		term Term
		f    func(p float64) float64
	}{
		{logarithm, func(p float64) float64 { return 1 + 0.1*math.Log2(p) }},
		{linear, func(p float64) float64 { return 5 + 0.01*p }},
		{Term{1, 1, 1}, func(p float64) float64 { return 2 + 0.3*p*math.Log2(p) }},
		{inverse, func(p float64) float64 { return 0.1 + 16/p }},
		{root, func(p float64) float64 { return 4 * math.Sqrt(p) }},
	} {
		found := choose(measuredAt(c.f, 2, 4, 8, 16, 32), noise{}, 512)
		require.NotNil(t, found)
		if assert.Equal(t, []Term{c.term}, found.terms, "%s", c.term) {
			assert.InEpsilon(t, c.f(512), found.at(512), 1e-6, "%s", c.term)
			low, high := found.interval(512)
			assert.LessOrEqual(t, low, c.f(512), "%s", c.term)
			assert.GreaterOrEqual(t, high, c.f(512), "%s", c.term)
		}
	}
	found := choose(measuredAt(func(p float64) float64 { return 16/p + 0.05*p }, 1, 2, 4, 8, 16, 32, 64), noise{}, 512)
	assert.ElementsMatch(t, []Term{inverse, linear}, found.terms, "two terms")
	assert.InEpsilon(t, 16.0/512+0.05*512, found.at(512), 1e-6)
}

// Of a hundred hypotheses one always fits noise better than a constant does.
func TestNoiseDoesNotGrow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	alarms := 0
	const cases = 100
	for range cases {
		points := measuredAt(func(float64) float64 { return 1 + 0.05*random.NormFloat64() }, 2, 4, 8, 16, 32)
		if len(choose(points, noise{}, 128).terms) > 0 {
			alarms++
		}
	}
	assert.LessOrEqual(t, alarms, cases/10)
}

// The median of equal runs does not follow the one that was disturbed.
func TestCenter(t *testing.T) {
	median, variance := center([]float64{3})
	assert.Equal(t, 3.0, median)
	assert.Zero(t, variance)
	median, variance = center([]float64{1, 9, 2})
	assert.Equal(t, 2.0, median)
	assert.InDelta(t, 19.0/4/3*math.Pi/2, variance, 1e-12) // the values' variance is 19
	median, _ = center([]float64{1, 2})
	assert.Equal(t, 1.5, median)
}

func TestShapes(t *testing.T) {
	for ranks, shape := range map[int]int{1: 1, 2: 2, 4: 1, 8: 2, 12: 3, 32: 2, 36: 1, 1024: 1, 30: 30} {
		assert.Equal(t, shape, shapeOf(ranks), "%d ranks", ranks)
	}
}

func TestAbout(t *testing.T) {
	for p, want := range map[float64]string{7: "7", 64: "64", 417: "420", 10240: "10000"} {
		assert.Equal(t, want, about(p))
	}
}
