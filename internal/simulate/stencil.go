package simulate

import "fmt"

func stencil2D(c *Config) (func(r *Rank), error) { return stencil(c, 2, 5, 9) }

func stencil3D(c *Config) (func(r *Rank), error) { return stencil(c, 3, 7, 27) }

// stencil exchanges halos with the existing neighbors, with a tag for each direction, and reduces a
// residual.
func stencil(c *Config, dimensions, fewer, more int) (func(r *Rank), error) {
	g, err := newGrid(c, dimensions)
	if err != nil {
		return nil, err
	}
	var offsets [][]int
	switch c.Points {
	case 0, fewer:
		offsets = star(dimensions)
	case more:
		offsets = cube(dimensions)
	default:
		return nil, fmt.Errorf("simulate: %d points: a stencil in %d dimensions has %d or %d", c.Points, dimensions, fewer, more)
	}
	return func(r *Rank) {
		comm := r.World()
		if c.Cartesian {
			comm = r.At(20).CartCreate(comm, g)
		}
		at := g.coordinates(r.rank)
		for i := range c.Iterations {
			var requests []*Request
			for k, o := range offsets {
				if peer := g.neighbor(at, o); peer >= 0 {
					requests = append(requests, r.At(30).Irecv(comm, peer, k^1, c.Bytes))
				}
			}
			for k, o := range offsets {
				if peer := g.neighbor(at, o); peer >= 0 {
					requests = append(requests, r.At(34).Isend(comm, peer, k, c.Bytes))
				}
			}
			r.Work(i)
			r.At(38).Waitall(requests)
			if c.Reduce > 0 && (i+1)%c.Reduce == 0 {
				r.At(40).Allreduce(comm, 8)
			}
		}
	}, nil
}
