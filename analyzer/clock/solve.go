package clock

// solve returns offsets that satisfy the bounds and are as close to the guess as possible: the
// middle between the greatest solution that nowhere exceeds the guess and the least that is nowhere
// below it. Both are found by relaxation (Bellman and Ford). The set of solutions is convex, so the
// middle is a solution, too. If bounds contradict each other, as under drift, the relaxation ends
// after n rounds with some bounds violated.
func solve(guess, bound []int64) []int64 {
	n := len(guess)
	low, high := append([]int64(nil), guess...), append([]int64(nil), guess...)
	for range n {
		changed := false
		for a := range n {
			for b := range n {
				w := bound[a*n+b]
				if w >= unbounded {
					continue
				}
				if low[a] > low[b]+w {
					low[a], changed = low[b]+w, true
				}
				if high[b] < high[a]-w {
					high[b], changed = high[a]-w, true
				}
			}
		}
		if !changed {
			break
		}
	}
	offsets := make([]int64, n)
	for i := range offsets {
		offsets[i] = low[i] + (high[i]-low[i])/2
	}
	for i := n - 1; i >= 0; i-- {
		offsets[i] -= offsets[0]
	}
	return offsets
}

// shortest returns the bounds closed over paths: the maximum difference of two offsets, directly or
// through others.
func shortest(bound []int64, n int) []int64 {
	d := append([]int64(nil), bound...)
	for k := range n {
		for a := range n {
			for b := range n {
				if via := d[a*n+k] + d[k*n+b]; d[a*n+k] < unbounded && d[k*n+b] < unbounded && via < d[a*n+b] {
					d[a*n+b] = via
				}
			}
		}
	}
	return d
}
