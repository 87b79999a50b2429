package skeleton

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A cycle reproduces any series.
func TestSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var s series
		var all []int32
		period := 1 + r.IntN(5)
		for k := range 1 + r.IntN(40) {
			v := int32(k % period)
			if r.IntN(20) == 0 {
				v = 7
			}
			s.add(v)
			all = append(all, v)
		}
		cycle := s.cycle()
		for k, v := range all {
			assert.Equal(t, v, cycle[k%len(cycle)])
		}
		if short := shortest(cycle); assert.Zero(t, len(cycle)%len(short)) {
			for k, v := range cycle {
				assert.Equal(t, v, short[k%len(short)])
			}
		}
	}
}
