package simulate

import "time"

// Work computes for as long as the rank does in an iteration.
func (r *Rank) Work(iteration int) { r.workPart(iteration, 1) }

// Compute computes for d.
func (r *Rank) Compute(d time.Duration) { r.now += d.Nanoseconds() }

// workPart computes for one of several equal parts of an iteration.
func (r *Rank) workPart(iteration, parts int) {
	c := r.sim.config
	percent := 100.0
	if r.rank == c.Imbalance.SlowRank {
		percent += c.Imbalance.SlowPercent
	}
	if r.rank/c.RanksPerNode == c.Imbalance.SlowNode {
		percent += c.Imbalance.SlowNodePercent
	}
	if c.Ranks > 1 {
		percent += c.Imbalance.Linear * float64(r.rank) / float64(c.Ranks-1)
	}
	if c.Imbalance.Noise > 0 {
		percent += c.Imbalance.Noise * float64(mix(c.Seed, uint64(r.rank), uint64(iteration), 7)>>11) / (1 << 53)
	}
	if c.Imbalance.Factor != nil {
		percent *= c.Imbalance.Factor(r.rank, iteration)
	}
	r.now += int64(float64(c.Compute) * percent / 100 / float64(parts))
}

// mix hashes numbers (the finalizer of SplitMix64, Steele et al. 2014, after each).
func mix(numbers ...uint64) uint64 {
	h := uint64(0)
	for _, x := range numbers {
		h += x + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
