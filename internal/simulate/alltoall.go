package simulate

// allToAll uses the collective.
func allToAll(c *Config) (func(r *Rank), error) {
	return func(r *Rank) {
		for i := range c.Iterations {
			r.Work(i)
			r.At(20).Alltoall(r.World(), c.Bytes)
		}
	}, nil
}

// pairwise does the same with messages: in step k it communicates with the ranks k before and k
// after.
func pairwise(c *Config) (func(r *Rank), error) {
	return func(r *Rank) {
		for i := range c.Iterations {
			r.Work(i)
			for k := 1; k < c.Ranks; k++ {
				r.At(20).Sendrecv(r.World(), (r.rank+k)%c.Ranks, k, c.Bytes, (r.rank+c.Ranks-k)%c.Ranks, k)
			}
		}
	}, nil
}
