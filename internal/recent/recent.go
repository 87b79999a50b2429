// Package recent finds again quickly what was looked up in a map lately: programs repeat themselves, a few keys at a time.
package recent

// slots is how many are remembered.
const slots = 16

// A Cache remembers where the latest entries of one map are.
type Cache[K comparable, V any] struct {
	latest [slots]struct {
		key   K
		value *V
	}
}

// At is the value of a key with this hash in all, made if there is none.
func (c *Cache[K, V]) At(all map[K]*V, key K, hash uint32) *V {
	slot := &c.latest[(hash*0x9e3779b1)>>28] // Fibonacci hashing (Knuth, The Art of Computer Programming 6.4)
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
