package clusters

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A hash is a polynomial hash of a sequence of symbols: Σ x_i · B^(n−i) for two bases modulo
// 2^61−1, with B^n. With two bases, a collision among a million ranks has a probability of 10^−24.
type hash struct {
	value, power [2]uint64
}

const mersenne = 1<<61 - 1

var bases = [2]uint64{0x1d8af066_5a3f6c11 % mersenne, 0x0b6e4d7c_93e1f8a5}

var empty = hash{power: [2]uint64{1, 1}}

// one returns the hash of a single symbol.
func one(symbol uint64) hash {
	x := symbol%(mersenne-1) + 1
	return hash{value: [2]uint64{x, x}, power: bases}
}

// then returns the hash of one sequence followed by another.
func (h hash) then(o hash) hash {
	var r hash
	for i := range r.value {
		r.value[i] = sum(product(h.value[i], o.power[i]), o.value[i])
		r.power[i] = product(h.power[i], o.power[i])
	}
	return r
}

// times returns the hash of a sequence repeated n times, in log n steps.
func (h hash) times(n uint64) hash {
	r := empty
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = r.then(h)
		}
		h = h.then(h)
	}
	return r
}

func sum(a, b uint64) uint64 {
	s := a + b
	if s >= mersenne {
		s -= mersenne
	}
	return s
}

func product(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return sum(sum(lo&mersenne, 0), sum((hi<<3|lo>>61)&mersenne, 0))
}

// hashes returns the hash of every rule's expansion; symbol maps terminals to symbols. Rules refer
// only to greater ones.
func hashes(g grammar.Grammar, symbol func(terminal int32) uint64) []hash {
	all := make([]hash, len(g.Rules))
	for i := len(g.Rules) - 1; i >= 0; i-- {
		h := empty
		for _, s := range g.Rules[i] {
			var part hash
			if s.IsRule() {
				part = all[s.Rule()]
			} else {
				part = one(symbol(s.Value))
			}
			if s.Count != 1 {
				part = part.times(s.Count)
			}
			h = h.then(part)
		}
		all[i] = h
	}
	return all
}
