package clock

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSolve(t *testing.T) {
	const none = unbounded
	for name, c := range map[string]struct{ guess, bound, want []int64 }{
		// nothing is known: the guess stays
		"no messages": {[]int64{0, 700}, []int64{0, none, none, 0}, []int64{0, 700}},
		// o1 − o0 ≤ 600 (bound[1,0]) and o0 − o1 ≤ −400, so 400 … 600: the guess of 500 is kept
		"the guess fits": {[]int64{0, 500}, []int64{0, -400, 600, 0}, []int64{0, 500}},
		// a guess of 900 is brought to the nearest end
		"the guess is too high": {[]int64{0, 900}, []int64{0, -400, 600, 0}, []int64{0, 600}},
		"the guess is too low":  {[]int64{0, -50}, []int64{0, -400, 600, 0}, []int64{0, 400}},
		// domain 2 is tied to 1 only: it follows along
		"a chain": {[]int64{0, 900, 900}, []int64{0, -400, none, 600, 0, 10, none, 10, 0}, []int64{0, 600, 605}},
	} {
		t.Run(name, func(t *testing.T) {
			got := solve(c.guess, c.bound)
			n := len(c.guess)
			for a := range n {
				for b := range n {
					if w := c.bound[a*n+b]; w < none {
						assert.LessOrEqual(t, got[a]-got[b], w, "bound %d, %d", a, b)
					}
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}
