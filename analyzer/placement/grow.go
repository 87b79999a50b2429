package placement

// grow fills one node after the other with ranks that are connected to each other.
func (s *search) grow() []int {
	at := make([]int, len(s.graph))
	for rank := range at {
		at[rank] = -1
	}
	seeds := queue{}
	next := 0
	for n, room := range s.room {
		if room == 0 {
			continue
		}
		// Start next to filled nodes where the fewest free neighbors are left, so that corners are
		// filled and no remainders are left over.
		seed := -1
		for len(seeds) > 0 && seed < 0 {
			if first := seeds.pop(); at[first.rank] < 0 {
				seed = first.rank
			}
		}
		for ; seed < 0; next++ {
			if at[next] < 0 {
				seed = s.end(at, next)
			}
		}
		for _, rank := range s.growFrom(at, seed, room, n) {
			for _, e := range s.graph[rank] {
				if at[e.to] < 0 {
					rest := int64(0)
					for _, around := range s.graph[e.to] {
						if at[around.to] < 0 {
							rest += around.weight
						}
					}
					s.work += len(s.graph[e.to])
					seeds.push(entry{-rest, 0, e.to})
				}
			}
			if s.work > s.limit {
				break
			}
		}
	}
	return at
}

// growFrom labels a rank and then, up to the given room, the rank that minimizes the crossing
// weight among those with the original label of the first. Ties are resolved by the order of
// discovery, which makes the region round.
func (s *search) growFrom(at []int, seed, room, label int) []int {
	free := at[seed]
	within := func(rank int) (weight int64) {
		for _, e := range s.graph[rank] {
			if at[e.to] == free {
				weight -= e.weight
			}
			if at[e.to] == label {
				weight += e.weight
			}
		}
		s.work += 1 + len(s.graph[rank])
		return weight
	}
	var q queue
	var members []int
	s.round++
	turn, scan := int64(0), 0
	add := func(rank int) {
		at[rank] = label
		members = append(members, rank)
		for _, e := range s.graph[rank] {
			if at[e.to] != free {
				continue
			}
			if s.seen[e.to] != s.round {
				turn--
				s.seen[e.to], s.came[e.to] = s.round, turn
			}
			q.push(entry{within(e.to), s.came[e.to], e.to})
		}
	}
	add(seed)
	for len(members) < room {
		if len(q) == 0 { // the component is exhausted
			for at[scan] != free {
				scan++
			}
			end := s.end(at, scan)
			s.round++ // end had one of its own
			add(end)
			continue
		}
		if x := q.pop(); at[x.rank] == free {
			add(x.rank)
		}
	}
	return members
}

// end returns a rank at the end of a component: the last one of a breadth-first search that starts
// at the last one of a breadth-first search from rank, among those with its label. If the search
// takes too long it returns rank itself.
func (s *search) end(at []int, rank int) int {
	for range 2 {
		if s.work > s.limit {
			return rank
		}
		s.round++
		s.seen[rank] = s.round
		reached := []int{rank}
		for i := 0; i < len(reached); i++ {
			for _, e := range s.graph[reached[i]] {
				if at[e.to] == at[rank] && s.seen[e.to] != s.round {
					s.seen[e.to] = s.round
					reached = append(reached, e.to)
				}
			}
			s.work += len(s.graph[reached[i]])
		}
		rank = reached[len(reached)-1]
	}
	return rank
}

// bisect divides nodes and ranks recursively into halves, each time by growing one half from an end
// and exchanging ranks between both.
func (s *search) bisect() []int {
	at := make([]int, len(s.graph))
	ranks := make([]int, len(s.graph))
	for rank := range ranks {
		ranks[rank] = rank
	}
	var nodes []int
	for n, room := range s.room {
		if room > 0 {
			nodes = append(nodes, n)
		}
	}
	for rank := range at {
		at[rank] = nodes[0]
	}
	s.split(at, ranks, nodes)
	return at
}

// split divides ranks that have the label of the first of the nodes.
func (s *search) split(at, ranks, nodes []int) {
	if len(nodes) < 2 {
		return
	}
	half := len(nodes) / 2
	low, high := nodes[0], nodes[half]
	room := 0
	for _, n := range nodes[half:] {
		room += s.room[n]
	}
	divide := func() (one, other []int) {
		for _, rank := range ranks {
			if at[rank] == high {
				other = append(other, rank)
			} else {
				one = append(one, rank)
			}
		}
		return one, other
	}
	improve := func() {
		if one, other := divide(); s.work < s.limit {
			s.exchange(at, one, other)
		}
	}
	cut := func() (sum int64) {
		for _, rank := range ranks {
			for _, e := range s.graph[rank] {
				if at[rank] == low && at[e.to] == high {
					sum += e.weight
				}
			}
			s.work += len(s.graph[rank])
		}
		return sum
	}
	// Grow from one end, from the other, and in the order of the ranks.
	s.growFrom(at, s.end(at, ranks[0]), room, high)
	improve()
	least, best := cut(), make([]int, len(ranks))
	keep := func() {
		for i, rank := range ranks {
			best[i] = at[rank]
		}
	}
	keep()
	for _, number := range []bool{false, true} {
		for _, rank := range ranks {
			at[rank] = low
		}
		if number {
			for _, rank := range ranks[len(ranks)-room:] {
				at[rank] = high
			}
		} else {
			s.growFrom(at, s.end(at, s.end(at, ranks[len(ranks)-1])), room, high)
		}
		improve()
		if c := cut(); c < least {
			least = c
			keep()
		}
	}
	for i, rank := range ranks {
		at[rank] = best[i]
	}
	one, other := divide()
	s.split(at, one, nodes[:half])
	s.split(at, other, nodes[half:])
}
