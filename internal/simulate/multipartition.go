package simulate

import "fmt"

// multipartition communicates like NPB BT: q × q ranks, each with q cells on a diagonal of the
// cube. In each of the three sweeps of an iteration all ranks work at every step, and send their
// boundary to the successor in that direction with nonblocking messages. Before the sweeps, faces
// are exchanged with all six neighbors.
func multipartition(c *Config) (func(r *Rank), error) {
	q := 1
	for q*q < c.Ranks {
		q++
	}
	if q*q != c.Ranks {
		return nil, fmt.Errorf("simulate: %d ranks: multipartition needs a square number", c.Ranks)
	}
	return func(r *Rank) {
		row, column := r.rank/q, r.rank%q
		at := func(i, k int) int { return (i+q)%q*q + (k+q)%q }
		successor := [3]int{at(row, column+1), at(row+1, column), at(row+1, column+1)}
		predecessor := [3]int{at(row, column-1), at(row-1, column), at(row-1, column-1)}
		for i := range c.Iterations {
			r.workPart(i, 4)
			if q > 1 {
				var requests []*Request
				for d := range 3 {
					requests = append(requests, r.At(20).Irecv(r.World(), predecessor[d], d, c.Bytes), r.At(21).Irecv(r.World(), successor[d], 3+d, c.Bytes))
				}
				for d := range 3 {
					requests = append(requests, r.At(22).Isend(r.World(), successor[d], d, c.Bytes), r.At(23).Isend(r.World(), predecessor[d], 3+d, c.Bytes))
				}
				r.At(24).Waitall(requests)
			}
			for d := range 3 {
				var sent *Request
				for step := range q {
					if step > 0 {
						received := r.At(30).Irecv(r.World(), predecessor[d], 6+d, c.Bytes)
						r.At(31).Waitall([]*Request{received, sent})
					}
					r.workPart(i, 4*q)
					if step < q-1 {
						sent = r.At(33).Isend(r.World(), successor[d], 6+d, c.Bytes)
					}
				}
			}
		}
		r.At(40).Reduce(r.World(), 0, 40)
	}, nil
}
