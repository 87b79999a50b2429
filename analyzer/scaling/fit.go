package scaling

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A point is a measured value at a size.
type point struct{ p, y float64 }

// A fit is a hypothesis with its coefficients: c0 + c1·t1 + …, or without c0.
type fit struct {
	terms        []Term
	constant     bool // it has c0
	tier         int  // the highest tier of its terms, plus one for each term after the first
	coefficients []float64
	residual     float64 // sum of the squares of relative errors
	left         float64 // mean symmetric relative error of each point predicted from the others
	covariance   *mat.SymDense
}

// parameters is the number of coefficients.
func (f *fit) parameters() int { return len(f.coefficients) }

// row returns the factors of the coefficients at a size.
func (f *fit) row(p float64) []float64 {
	row := make([]float64, 0, 3)
	if f.constant {
		row = append(row, 1)
	}
	for _, t := range f.terms {
		row = append(row, t.At(p))
	}
	return row
}

// at returns the prediction for a size.
func (f *fit) at(p float64) float64 {
	sum := 0.0
	for i, x := range f.row(p) {
		sum += f.coefficients[i] * x
	}
	return sum
}

// deviation returns the standard deviation of the prediction for a size, if relative errors have a
// standard deviation of one.
func (f *fit) deviation(p float64) float64 {
	x := mat.NewVecDense(f.parameters(), f.row(p))
	return math.Sqrt(max(0, mat.Inner(x, f.covariance, x)))
}

// leastScale is the minimum value that errors are relative to, as a share of the largest value.
const leastScale = 1e-3

// scales returns the values that errors are relative to; none is 0.
func scales(points []point) []float64 {
	largest := 0.0
	for _, one := range points {
		largest = max(largest, math.Abs(one.y))
	}
	list := make([]float64, len(points))
	for i, one := range points {
		list[i] = max(math.Abs(one.y), leastScale*largest, math.SmallestNonzeroFloat64)
	}
	return list
}

// solve fits the hypothesis to points by least squares of relative errors; false if the points do
// not determine it.
func (f *fit) solve(points []point, scale []float64) bool {
	n, k := len(points), len(f.row(points[0].p))
	if n <= k {
		return false
	}
	a, b := mat.NewDense(n, k, nil), mat.NewVecDense(n, nil)
	columns := make([]float64, k) // norms, so that the solver treats terms of all magnitudes alike
	for i, one := range points {
		for j, x := range f.row(one.p) {
			a.Set(i, j, x/scale[i])
			columns[j] += x / scale[i] * x / scale[i]
		}
		b.SetVec(i, one.y/scale[i])
	}
	for j := range columns {
		if columns[j] = math.Sqrt(columns[j]); columns[j] == 0 {
			return false
		}
		for i := range n {
			a.Set(i, j, a.At(i, j)/columns[j])
		}
	}
	var normal mat.SymDense
	normal.SymOuterK(1, a.T())
	var cholesky mat.Cholesky
	if !cholesky.Factorize(&normal) || cholesky.Cond() > 1e12 {
		return false
	}
	var inverse mat.SymDense
	if cholesky.InverseTo(&inverse) != nil {
		return false
	}
	var qr mat.QR // of the coefficients themselves: more digits than the normal equations leave
	qr.Factorize(a)
	var c mat.VecDense
	if qr.SolveVecTo(&c, false, b) != nil {
		return false
	}
	f.residual, f.left = 0, 0
	for i, one := range points {
		row := a.RowView(i)
		error := b.AtVec(i) - mat.Dot(row, &c)
		f.residual += error * error
		// the error of the point if it had been left out, without fitting again (Allen's PRESS)
		leverage := mat.Inner(row, &inverse, row)
		predicted := one.y - error/max(1-leverage, 1e-9)*scale[i]
		if sum := math.Abs(predicted) + math.Abs(one.y); sum > 0 {
			f.left += 2 * math.Abs(predicted-one.y) / sum / float64(n)
		}
	}
	f.coefficients, f.covariance = make([]float64, k), mat.NewSymDense(k, nil)
	for i := range k {
		f.coefficients[i] = c.AtVec(i) / columns[i]
		for j := i; j < k; j++ {
			f.covariance.SetSym(i, j, inverse.At(i, j)/columns[i]/columns[j])
		}
	}
	return true
}

// possible reports whether the fit can be true up to a size: it is not negative, and a growing term
// has a positive coefficient.
func (f *fit) possible(points []point, limit float64) bool {
	for i, t := range f.terms {
		c := f.coefficients[len(f.coefficients)-len(f.terms)+i]
		if t.grows() && c <= 0 || math.IsNaN(c) {
			return false
		}
	}
	for _, one := range points {
		if f.at(one.p) < 0 {
			return false
		}
	}
	return f.at(limit) >= 0
}
