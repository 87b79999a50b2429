package criticalpath

// A strip is how a location spent each of equal parts of the run.
type strip struct {
	mpi, wait bins
}

// bins add up time by parts of the run.
type bins struct {
	start, width int64
	ns           []int64
}

func newStrip(n int, start, end int64) strip {
	width := max(1, (end-start+int64(n)-1)/int64(n))
	return strip{
		mpi:  bins{start: start, width: width, ns: make([]int64, n)},
		wait: bins{start: start, width: width, ns: make([]int64, n)},
	}
}

func (b *bins) add(from, to int64) {
	from, to = from-b.start, min(to-b.start, b.width*int64(len(b.ns)))
	for from = max(from, 0); from < to; {
		i := from / b.width
		end := min((i+1)*b.width, to)
		b.ns[i] += end - from
		from = end
	}
}
