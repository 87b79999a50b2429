package accounts

// A Strip is how a location spent its time in each of several equal parts of the run.
type Strip struct {
	MPI, Wait Bins
}

// Bins sum up time in equal parts of the run.
type Bins struct {
	Start, Width int64
	Ns           []int64
}

func newStrip(n int, start, end int64) Strip {
	width := max(1, (end-start+int64(n)-1)/int64(n))
	return Strip{
		MPI:  Bins{Start: start, Width: width, Ns: make([]int64, n)},
		Wait: Bins{Start: start, Width: width, Ns: make([]int64, n)},
	}
}

func (b *Bins) add(from, to int64) {
	from, to = from-b.Start, min(to-b.Start, b.Width*int64(len(b.Ns)))
	for from = max(from, 0); from < to; {
		i := from / b.Width
		end := min((i+1)*b.Width, to)
		b.Ns[i] += end - from
		from = end
	}
}
