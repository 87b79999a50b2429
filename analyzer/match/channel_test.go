package match

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestGrowKeepsPendingEnds: a table that grows keeps the pending ends of its channels in their
// order. It drops empty channels once there are more than keep.
func TestGrowKeepsPendingEnds(t *testing.T) {
	table := channels{keep: 100}
	waiting := map[channelKey][]*End{}
	for i := range 5000 {
		key := channelKey{comm: int32(i % 3), source: int32(i % 17), dest: int32(i), tag: int64(i % 5)}
		c := table.at(key)
		assert.True(t, c.empty())
		if i%50 == 0 {
			for range 3 {
				e := new(End)
				c.sends.push(e)
				waiting[key] = append(waiting[key], e)
			}
		}
	}
	assert.Less(t, len(table.slots), 2048, "100 channels wait")
	for key, ends := range waiting {
		c := table.at(key)
		for _, e := range ends {
			assert.Same(t, e, c.sends.peek())
			c.sends.drop()
		}
		assert.True(t, c.empty())
	}
}
