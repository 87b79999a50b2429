// Package recent is a small cache in front of a map: programs repeat themselves, with a few keys at
// a time.
package recent

// slots is the number of cached entries.
const slots = 16

// A Cache has pointers to the most recent entries of one map.
type Cache[K comparable, V any] struct {
	latest [slots]struct {
		key   K
		value *V
	}
}

// At returns the value of key, which has this hash, in all. It adds a value if there is none.
func (c *Cache[K, V]) At(all map[K]*V, key K, hash uint32) *V {
	// Fibonacci hashing (Knuth, The Art of Computer Programming 6.4)
	slot := &c.latest[(hash*0x9e3779b1)>>28]
	if slot.value != nil && slot.key == key {
		return slot.value
	}
	v := all[key]
	if v == nil {
		v = new(V)
		all[key] = v
	}
	slot.key, slot.value = key, v
	return v
}
