package simulate

import (
	"fmt"
	"math/bits"
)

// bitsOf returns the number of bits of a rank. The number of ranks must be a power of two.
func bitsOf(c *Config) (int, error) {
	if bits.OnesCount(uint(c.Ranks)) != 1 {
		return 0, fmt.Errorf("simulate: %s needs a power of two, not %d ranks", c.Pattern, c.Ranks)
	}
	return bits.TrailingZeros(uint(c.Ranks)), nil
}

// butterfly exchanges with one partner after the other, as in a recursive-doubling
// reduction or an FFT.
func butterfly(c *Config) (func(r *Rank), error) {
	n, err := bitsOf(c)
	return func(r *Rank) {
		for i := range c.Iterations {
			r.Work(i)
			for k := range n {
				partner := r.rank ^ 1<<k
				r.At(20).Sendrecv(r.World(), partner, k, c.Bytes, partner, k)
			}
		}
	}, err
}

// hypercube exchanges with all partners at once.
func hypercube(c *Config) (func(r *Rank), error) {
	n, err := bitsOf(c)
	return func(r *Rank) {
		for i := range c.Iterations {
			var requests []*Request
			for k := range n {
				requests = append(requests, r.At(20).Irecv(r.World(), r.rank^1<<k, k, c.Bytes))
			}
			for k := range n {
				requests = append(requests, r.At(23).Isend(r.World(), r.rank^1<<k, k, c.Bytes))
			}
			r.Work(i)
			r.At(26).Waitall(requests)
		}
	}, err
}
