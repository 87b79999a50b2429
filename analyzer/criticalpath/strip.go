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

// absent is the pair of shares for a part of the run in which the rank was not there: not yet in MPI_Init, or gone.
const absentMPI, absentWait = 0, 255

// shares are the bins as 0 … 255. What lies outside of the location's life counts as MPI where the rank was there for a
// part of the bin only.
func (s *strip) shares(x extent) (mpi, wait []byte) {
	mpi, wait = make([]byte, len(s.mpi.ns)), make([]byte, len(s.wait.ns))
	for i := range mpi {
		from, width := s.mpi.start+int64(i)*s.mpi.width, s.mpi.width
		lived := max(0, min(x.end, from+width)-max(x.start, from))
		if lived == 0 {
			mpi[i], wait[i] = absentMPI, absentWait
			continue
		}
		mpi[i] = share(s.mpi.ns[i]+width-lived, width)
		wait[i] = min(mpi[i], share(s.wait.ns[i], width))
	}
	return mpi, wait
}

func share(ns, width int64) byte { return byte(min(255, (ns*255+width/2)/width)) }
