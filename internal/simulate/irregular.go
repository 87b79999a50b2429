package simulate

// irregular exchanges messages with randomly chosen neighbors: mostly close in a space-filling
// order, sometimes far away. The neighbors and the sizes of messages change every c.Regrid
// iterations. Both ends of a pair compute them independently, from a hash of the pair.
func irregular(c *Config) (func(r *Rank), error) {
	width := 1
	for width*width < c.Ranks {
		width++
	}
	distances := []int{1, 2, width - 1, width, width + 1, 3 * width, c.Ranks / 3}
	return func(r *Rank) {
		var neighbors []pair
		for i := range c.Iterations {
			if i%c.Regrid == 0 {
				neighbors = neighborsOf(c, r.rank, i/c.Regrid, distances)
				r.At(20).Allreduce(r.World(), 8)
			}
			var requests []*Request
			for _, n := range neighbors {
				requests = append(requests, r.At(30).Irecv(r.World(), n.peer, 0, n.bytes))
			}
			for _, n := range neighbors {
				requests = append(requests, r.At(33).Isend(r.World(), n.peer, 0, n.bytes))
			}
			r.Work(i)
			r.At(36).Waitall(requests)
		}
	}, nil
}

// A pair is a neighbor with the size of the messages to and from it.
type pair struct{ peer, bytes int }

func neighborsOf(c *Config, rank, generation int, distances []int) []pair {
	var neighbors []pair
	met := map[int]bool{rank: true}
	for _, d := range distances {
		for _, peer := range []int{rank - d, rank + d} {
			if peer < 0 || peer >= c.Ranks || met[peer] {
				continue
			}
			met[peer] = true
			h := mix(c.Seed, uint64(min(rank, peer)), uint64(max(rank, peer)), uint64(generation))
			if h%100 < 40 {
				neighbors = append(neighbors, pair{peer, c.Bytes * int(1+h>>32%8) / 4})
			}
		}
	}
	return neighbors
}
