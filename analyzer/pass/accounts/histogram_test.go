package accounts

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHistogram(t *testing.T) {
	last := uint16(0)
	for _, ns := range []int64{0, 1, 15, 16, 17, 31, 32, 33, 34, 63, 64, 1000, 1_000_000, 1 << 40, 1<<62 + 12345} {
		b := bucketOf(ns)
		assert.GreaterOrEqual(t, b, last)
		assert.LessOrEqual(t, lower(b), float64(ns))
		assert.Greater(t, lower(b+1)*1.0000001, float64(ns), "%d", ns)
		last = b
	}
	var h Histogram
	for range 90 {
		h.add(1_000_000)
	}
	for range 10 {
		h.add(50_000_000) // preempted
	}
	assert.InEpsilon(t, 1_000_000, h.Quantile(0.5), 0.05)
	assert.InEpsilon(t, 50_000_000, h.Quantile(0.95), 0.05)
	assert.Zero(t, Histogram(nil).Quantile(0.5))
}
