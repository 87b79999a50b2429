package simulate

// transpose communicates like conj_grad of NPB CG: a grid with a power of two of rows, and as many
// columns or twice as many. It sums over a row by recursive halving, exchanges with the transposed
// rank, and computes two dot products.
func transpose(c *Config) (func(r *Rank), error) {
	n, err := bitsOf(c)
	rows := 1 << (n / 2)
	columns := 1 << (n - n/2)
	return func(r *Rank) {
		row, column := r.rank/columns, r.rank%columns
		partner := r.rank%rows*rows + r.rank/rows
		if columns != rows {
			partner = 2*(r.rank/2%rows*rows+r.rank/2/rows) + r.rank%2
		}
		exchange := func(line, peer, bytes int) {
			q := r.At(line).Irecv(r.World(), peer, 1, bytes)
			r.At(line+1).Send(r.World(), peer, 1, bytes)
			r.At(line + 2).Wait(q)
		}
		sum := func(line, bytes int) {
			for k := columns / 2; k > 0; k /= 2 {
				exchange(line, row*columns+column^k, bytes)
			}
		}
		for i := range c.Iterations {
			r.Work(i)
			sum(20, c.Bytes)
			if partner != r.rank {
				exchange(30, partner, c.Bytes)
			}
			sum(40, 8)
			sum(50, 8)
		}
		r.At(60).Reduce(r.World(), 0, 8)
	}, err
}
