package simulate

// ring sends a message to the next rank and receives one from the previous rank at the same time.
func ring(c *Config) (func(r *Rank), error) {
	return func(r *Rank) {
		next, previous := (r.rank+1)%c.Ranks, (r.rank+c.Ranks-1)%c.Ranks
		for i := range c.Iterations {
			r.Work(i)
			r.At(20).Sendrecv(r.World(), next, 0, c.Bytes, previous, 0)
		}
	}, nil
}
