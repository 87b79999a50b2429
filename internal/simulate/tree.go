package simulate

// tree sums up to rank 0 along a binomial tree and sends the sum back down.
func tree(c *Config) (func(r *Rank), error) {
	return func(r *Rank) {
		for i := range c.Iterations {
			r.Work(i)
			var children []int
			parent := -1
			for bit := 1; bit < c.Ranks; bit <<= 1 {
				if r.rank&bit != 0 {
					parent = r.rank &^ bit
					break
				}
				if child := r.rank | bit; child < c.Ranks {
					children = append(children, child)
				}
			}
			for _, child := range children {
				r.At(20).Recv(r.World(), child, 1, c.Bytes)
			}
			if parent >= 0 {
				r.At(23).Send(r.World(), parent, 1, c.Bytes)
				r.At(24).Recv(r.World(), parent, 2, c.Bytes)
			}
			for k := len(children) - 1; k >= 0; k-- {
				r.At(27).Send(r.World(), children[k], 2, c.Bytes)
			}
		}
	}, nil
}
