package simulate

// wavefront sweeps over the grid from the first corner to the last and back, plane by plane, like
// NPB LU: a rank waits for its neighbors to the north and west, computes, and sends to the south
// and east. The grid has two dimensions, or three if three are given.
func wavefront(c *Config) (func(r *Rank), error) {
	dimensions := 2
	if len(c.Grid) == 3 {
		dimensions = 3
	}
	g, err := newGrid(c, dimensions)
	g.periodic = false
	var before, after [][]int // north and west; south and east
	for k := range dimensions {
		down, up := make([]int, dimensions), make([]int, dimensions)
		down[k], up[k] = -1, 1
		before, after = append(before, down), append(after, up)
	}
	return func(r *Rank) {
		at := g.coordinates(r.rank)
		sweep := func(line, iteration int, from, to [][]int) {
			for step := range c.Steps {
				for k, o := range from {
					if peer := g.neighbor(at, o); peer >= 0 {
						r.At(line+k).Recv(r.World(), peer, line, c.Bytes)
					}
				}
				r.workPart(iteration*c.Steps+step, 2*c.Steps)
				for k, o := range to {
					if peer := g.neighbor(at, o); peer >= 0 {
						r.At(line+10+k).Send(r.World(), peer, line, c.Bytes)
					}
				}
			}
		}
		for i := range c.Iterations {
			sweep(20, i, before, after)
			sweep(50, i, after, before)
		}
		r.At(80).Allreduce(r.World(), 40)
	}, err
}
