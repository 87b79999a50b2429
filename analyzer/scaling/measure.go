package scaling

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// values are the values of a place in the runs of a size, per rank.
type values struct {
	seconds, longest, calls []float64
	waiting, bytes          []float64 // nil if unknown in any run
	totals                  []float64 // duration of the whole runs in seconds
}

// valuesOf returns the values; nil if no run has the place.
func valuesOf(p place, runs []*run) *values {
	v := &values{waiting: []float64{}, bytes: []float64{}}
	there := false
	for _, r := range runs {
		v.totals = append(v.totals, r.seconds)
		s := r.places[p]
		if s == nil {
			s = &sums{seconds: make([]float64, r.ranks)}
		} else {
			there = true
		}
		ranks := float64(r.ranks)
		v.seconds, v.longest = append(v.seconds, stat.Mean(s.seconds, nil)), append(v.longest, slices.Max(s.seconds))
		v.calls = append(v.calls, float64(s.calls)/ranks)
		if v.waiting = append(v.waiting, s.waiting/ranks); !r.waits {
			v.waiting = nil
		}
		if v.bytes = append(v.bytes, float64(s.bytes)/ranks); s.unsized {
			v.bytes = nil
		}
	}
	if !there {
		return nil
	}
	return v
}

// A measure is one kind of value at all sizes.
type measure struct {
	points []point
	spread float64 // maximum over sizes, relative to the median
	varies bool    // equal runs have different values
	noise  noise
	sizes  int // number of sizes with repeats
}

// add adds a size, and returns its value.
func (m *measure) add(size int, values []float64) float64 {
	median, variance := center(values)
	m.points = append(m.points, point{float64(size), median})
	if n := len(values); n > 1 {
		m.noise.variance = (m.noise.variance*float64(m.sizes) + variance) / float64(m.sizes+1)
		m.sizes++
		m.noise.freedom += n - 1
		if width := slices.Max(values) - slices.Min(values); width > 0 {
			m.varies = true
			if median > 0 {
				m.spread = max(m.spread, width/median)
			}
		}
	}
	return median
}

// nothing is the reason for not having a model if all values are zero.
const nothing = "none at all"

// isNothing reports whether all values are zero.
func (m *measure) isNothing() bool {
	return !slices.ContainsFunc(m.points, func(p point) bool { return p.y != 0 })
}

// times returns the model of a measure in seconds.
func (m *measure) times(limit float64) Series {
	switch n := len(m.points); {
	case n == 0:
		return Series{NoModel: "not known"}
	case m.isNothing():
		return Series{NoModel: nothing}
	case n < minTimeSizes:
		return Series{NoModel: fmt.Sprintf("%s: a model of times takes %d", wording.Count(n, "size", "sizes"), minTimeSizes)}
	}
	return m.fitted(limit, wording.Duration)
}

// counts returns the model of calls or bytes: an exact form if there is one, for all sizes or for
// those with the shape of the last target (shape.go).
func (m *measure) counts(limit float64) Series {
	switch n := len(m.points); {
	case n == 0:
		return Series{NoModel: "not known"}
	case m.isNothing():
		return Series{NoModel: nothing}
	case n < 2:
		return Series{NoModel: "1 size: a model takes 2"}
	}
	if !m.varies {
		if c := chooseExact(m.points, limit); c != nil {
			return Series{Model: newModel(c, len(m.points), number)}
		}
		shape := shapeOf(int(limit))
		if alike := ofShape(m.points, shape); len(alike) >= minShapeSizes {
			if c := chooseExact(alike, limit); c != nil {
				return Series{Model: newModel(c, len(alike), number).only(shape)}
			}
		}
	}
	return m.approximate(limit)
}

// approximate returns the model of calls or bytes that match no form.
func (m *measure) approximate(limit float64) Series {
	if n := len(m.points); n < minTimeSizes {
		return Series{NoModel: fmt.Sprintf("no simple form meets these %d sizes: an approximate one takes %d", n, minTimeSizes)}
	}
	return m.fitted(limit, number)
}

// fitted returns the model of a measure with noise, if it is good enough.
func (m *measure) fitted(limit float64, unit func(float64) string) Series {
	c := choose(m.points, m.noise, limit)
	switch {
	case c == nil:
		return Series{NoModel: "no form fits"}
	case c.left > maxError && m.spread > maxError:
		return Series{NoModel: fmt.Sprintf("varies by %.0f%% between equal runs", 100*m.spread)}
	case c.left > maxError:
		return Series{NoModel: fmt.Sprintf("no form fits: each size is %.0f%% off what the others say", 100*c.left)}
	}
	return Series{Model: newModel(c, len(m.points), unit)}
}

// number formats a coefficient.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
