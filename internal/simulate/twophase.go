package simulate

// twoPhase spends half of its iterations on a halo exchange within rows and half on all-to-alls
// within columns, on communicators from MPI_Comm_split.
func twoPhase(c *Config) (func(r *Rank), error) {
	g, err := newGrid(c, 2)
	return func(r *Rank) {
		at := g.coordinates(r.rank)
		rows, columns := g.extent[0], g.extent[1]
		inRow, inColumn := make([]int, columns), make([]int, rows)
		for i := range inRow {
			inRow[i] = at[0]*columns + i
		}
		for i := range inColumn {
			inColumn[i] = i*columns + at[1]
		}
		row := r.At(20).Split(r.World(), at[0], at[1], inRow)
		column := r.At(21).Split(r.World(), at[1], at[0], inColumn)
		for i := range c.Iterations / 2 {
			r.Work(i)
			r.At(30).Sendrecv(row, (at[1]+1)%columns, 0, c.Bytes, (at[1]+columns-1)%columns, 0)
		}
		r.At(35).Barrier(r.World())
		for i := range c.Iterations - c.Iterations/2 {
			r.Work(c.Iterations/2 + i)
			r.At(40).Alltoall(column, c.Bytes)
			r.At(41).Bcast(row, 0, c.Bytes)
		}
		r.At(50).CommFree(row)
		r.At(51).CommFree(column)
	}, err
}
