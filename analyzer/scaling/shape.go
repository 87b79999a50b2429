package scaling

import "fmt"

// Programs arrange their ranks in grids: 16 ranks are 4 × 4, 32 are 4 × 8. Then counts follow one
// form for squares, another one for twice a square, and no common form.

// minShapeSizes is the minimum number of sizes of a shape for a model.
const minShapeSizes = 3

// shapeOf returns a number of ranks divided by its largest square divisor: 1 for 4, 16, 64 and 36;
// 2 for 2, 8 and 32.
func shapeOf(ranks int) int {
	for d := 2; d*d <= ranks; d++ {
		for ranks%(d*d) == 0 {
			ranks /= d * d
		}
	}
	return ranks
}

// ofShape returns the points with this shape.
func ofShape(points []point, shape int) []point {
	var list []point
	for _, one := range points {
		if shapeOf(int(one.p)) == shape {
			list = append(list, one)
		}
	}
	return list
}

// only restricts the model to a shape.
func (m *Model) only(shape int) *Model {
	m.Shape = shape
	if shape == 1 {
		m.Formula += ", p a square"
	} else {
		m.Formula += fmt.Sprintf(", p %d times a square", shape)
	}
	return m
}

// holds reports whether the model is valid for a number of ranks.
func (m *Model) holds(ranks int) bool { return m.Shape == 0 || shapeOf(ranks) == m.Shape }
