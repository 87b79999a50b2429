package clusters

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
)

func sizesOf(groups [][]int) []int {
	sizes := make([]int, len(groups))
	for i, g := range groups {
		sizes[i] = len(g)
	}
	return sizes
}

func TestDivideFindsTheGroupsThatThereAre(t *testing.T) {
	for _, how := range []Method{Medoids, Farthest} {
		random := rand.New(rand.NewSource(1))
		points := map[int]point{}
		for rank := range 300 {
			center := []point{{0, 0}, {10, 0}, {0, 10}}[rank%3]
			points[rank] = point{center[0] + random.Float64(), center[1] + random.Float64()}
		}
		groups := divide(points, 0, how)
		assert.Equal(t, []int{100, 100, 100}, sizesOf(groups), how)
		for _, g := range groups {
			for _, rank := range g {
				assert.Equal(t, g[0]%3, rank%3)
			}
		}
		assert.Len(t, divide(points, 5, how), 5, "k is given")
	}
}

// What has no groups is not divided.
func TestDivideLeavesWhatIsOne(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	line, cloud, equal := map[int]point{}, map[int]point{}, map[int]point{}
	for rank := range 200 {
		line[rank] = point{float64(rank), 0}
		cloud[rank] = point{random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
		equal[rank] = point{3, 4}
	}
	for name, points := range map[string]map[int]point{"line": line, "cloud": cloud, "equal": equal} {
		assert.Len(t, divide(points, 0, Medoids), 1, name)
	}
	assert.Len(t, divide(equal, 3, Medoids), 1, "there is but one place")
}

// The leads are medoids: no other member is nearer to all.
func TestLeadsAreInTheMiddle(t *testing.T) {
	points := map[int]point{}
	for rank := range 9 {
		points[rank] = point{float64(rank)}
	}
	assert.Equal(t, 4, divide(points, 1, Medoids)[0][0])
}

// Many points are divided by a sample of them.
func TestDivideManyPoints(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	points := map[int]point{}
	for rank := range 10_000 {
		points[rank] = point{float64(rank%4) * 100, random.Float64()}
	}
	assert.Equal(t, []int{2500, 2500, 2500, 2500}, sizesOf(divide(points, 0, Medoids)))
}
