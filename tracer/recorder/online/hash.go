package online

import "math/bits"

// Hashes are polynomials modulo the prime 2^61 − 1. They depend on the order of their input, and
// the hash of a repeated interval can be computed from the hash of the interval.
const (
	hashPrime = 1<<61 - 1
	hashBase  = 0x1e3779b97f4a7c15
)

func hashTimes(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	sum := low&hashPrime + (high<<3 | low>>61)
	return sum&hashPrime + sum>>61
}

// Mix adds a number to a hash. The order of numbers matters.
func Mix(h, x uint64) uint64 { return (hashTimes(h, hashBase) + x&hashPrime + x>>61) % hashPrime }

// repeated returns the hash of n repetitions of a sequence of calls numbers with hash h.
func repeated(h, calls uint64, n int) uint64 {
	power, square := uint64(1), uint64(hashBase)
	for ; calls > 0; calls >>= 1 {
		if calls&1 == 1 {
			power = hashTimes(power, square)
		}
		square = hashTimes(square, square)
	}
	all := h
	for range n - 1 {
		all = (hashTimes(all, power) + h) % hashPrime
	}
	return all
}
