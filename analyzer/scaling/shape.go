package scaling

import "fmt"

// Programs lay their ranks out as grids: 16 ranks are 4 × 4, 32 are 4 × 8. What they count then meets one form for squares,
// and another for twice a square, and none for both.

// minShapeSizes is how many sizes of a shape make a model.
const minShapeSizes = 3

// shapeOf is what is left of a number of ranks without the largest square that divides it: 1 for 4, 16, 64 and 36; 2 for 2,
// 8 and 32.
func shapeOf(ranks int) int {
	for d := 2; d*d <= ranks; d++ {
		for ranks%(d*d) == 0 {
			ranks /= d * d
		}
	}
	return ranks
}

// ofShape are the points with this shape.
func ofShape(points []point, shape int) []point {
	var list []point
	for _, one := range points {
		if shapeOf(int(one.p)) == shape {
			list = append(list, one)
		}
	}
	return list
}

// only says that a model is one of a shape.
func (m *Model) only(shape int) *Model {
	m.Shape = shape
	if shape == 1 {
		m.Formula += ", p a square"
	} else {
		m.Formula += fmt.Sprintf(", p %d times a square", shape)
	}
	return m
}

// holds reports whether the model is one of so many ranks.
func (m *Model) holds(ranks int) bool { return m.Shape == 0 || shapeOf(ranks) == m.Shape }
