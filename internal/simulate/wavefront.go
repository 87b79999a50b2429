package simulate

// wavefront sweeps over the grid from the first corner to the last and back, plane by plane, as NPB LU does: a rank
// waits for its neighbours to the north and west, computes, and sends to the south and east.
func wavefront(c *Config) (func(r *Rank), error) {
	g, err := newGrid(c, 2)
	g.periodic = false
	north, south, west, east := []int{-1, 0}, []int{1, 0}, []int{0, -1}, []int{0, 1}
	return func(r *Rank) {
		at := g.coordinates(r.rank)
		sweep := func(line, iteration int, from, to [][]int) {
			for step := range c.Steps {
				for k, o := range from {
					if peer := g.neighbour(at, o); peer >= 0 {
						r.At(line+k).Recv(r.World(), peer, line, c.Bytes)
					}
				}
				r.workPart(iteration*c.Steps+step, 2*c.Steps)
				for k, o := range to {
					if peer := g.neighbour(at, o); peer >= 0 {
						r.At(line+10+k).Send(r.World(), peer, line, c.Bytes)
					}
				}
			}
		}
		for i := range c.Iterations {
			sweep(20, i, [][]int{north, west}, [][]int{south, east})
			sweep(50, i, [][]int{south, east}, [][]int{north, west})
		}
		r.At(80).Allreduce(r.World(), 40)
	}, err
}
