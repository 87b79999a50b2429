package simulate

// multigrid communicates like NPB MG: V-cycles on a periodic 3-D grid. On each level, from fine to
// coarse and back, a rank computes (an eighth as much on the next coarser level) and exchanges
// faces with its neighbors, one dimension after the other. After each cycle the norm is reduced.
func multigrid(c *Config) (func(r *Rank), error) {
	g, err := newGrid(c, 3)
	g.periodic = true
	const levels = 4
	return func(r *Rank) {
		at := g.coordinates(r.rank)
		smooth := func(line, iteration, level int) {
			r.workPart(iteration, 2<<(3*level))
			for d := range 3 {
				for side, o := range star(3)[2*d : 2*d+2] {
					to, from := g.neighbor(at, o), g.neighbor(at, star(3)[2*d+1-side])
					if to == r.rank {
						continue
					}
					q := r.At(line).Irecv(r.World(), from, d, c.Bytes>>(2*level))
					r.At(line+1).Send(r.World(), to, d, c.Bytes>>(2*level))
					r.At(line + 2).Wait(q)
				}
			}
		}
		for i := range c.Iterations {
			for level := range levels {
				smooth(20, i, level)
			}
			for level := levels - 1; level >= 0; level-- {
				smooth(30, i, level)
			}
			r.At(40).Allreduce(r.World(), 8)
		}
	}, err
}
